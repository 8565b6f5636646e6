// ask.mjs CORE FILE...: what Pi itself makes of session files, one JSON line each. CORE: the folder of Pi's modules.
// Pi may rewrite a file that it opens, so it is given a copy.
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [core, ...files] = process.argv.slice(2);
const own = (name) => import(pathToFileURL(join(core, name)).href);
const { SessionManager, buildSessionProjection } = await own("session-manager.js");
const { createUsageTotals, addUsageToTotals } = await own("usage-totals.js");

// Instructions stand in sections; they are sent in their order, parted by a blank line.
const textOf = (message) => {
  if (message.role === "system") {
    const parts = [message.content, ...Object.values(message.sections ?? {})];
    return parts.filter((part) => typeof part === "string" && part).join("\n\n");
  }
  if (message.role === "bashExecution") return [message.command, message.output].filter(Boolean).join("\n");
  if (typeof message.summary === "string") return message.summary;
  if (typeof message.content === "string") return message.content;
  const blocks = message.content ?? [];
  return blocks.filter((block) => block.type === "text").map((block) => block.text).join("\n");
};

// What the model is shown with the leaf at an entry: [entry id, role, text] in order.
const shownAt = (entries, id) =>
  buildSessionProjection(entries, id).entries.flatMap((shown) =>
    shown.messages.map((message) => [shown.sourceEntry.id, message.role, textOf(message)]),
  );

const totalsOf = (entries) => {
  const totals = createUsageTotals();
  for (const entry of entries) {
    const usage = entry.type === "message" ? entry.message.usage : entry.usage;
    if (usage) addUsageToTotals(totals, usage);
  }
  return totals;
};

const folder = mkdtempSync(join(tmpdir(), "turnlog-ask-"));
try {
  for (const file of files) {
    const copy = join(folder, basename(file));
    copyFileSync(file, copy);
    const session = SessionManager.open(copy);
    const entries = session.getEntries();
    const projection = session.buildSessionProjection();
    const labels = entries.flatMap(({ id }) => (session.getLabel(id) === undefined ? [] : [[id, session.getLabel(id)]]));
    const answer = {
      session: session.getHeader().id,
      leaf: session.getLeafId(),
      branch: session.getBranch().map((entry) => entry.id),
      roots: session.getTree().map((node) => node.entry.id),
      children: Object.fromEntries(entries.map(({ id }) => [id, session.getChildren(id).map((entry) => entry.id)])),
      labels: Object.fromEntries(labels),
      name: session.getSessionName() ?? null,
      model: projection.model,
      level: projection.thinkingLevel,
      shown: Object.fromEntries(entries.map(({ id }) => [id, shownAt(entries, id)])),
      totals: totalsOf(entries),
    };
    console.log(JSON.stringify(answer));
  }
} finally {
  rmSync(folder, { recursive: true });
}
