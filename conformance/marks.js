// An extension for Pi: commands for what its RPC mode has no word for, and a tool that spends tokens of its own.
// WHICH is ROLE:N, the N-th message of a role in file order.
export default function (pi) {
  const which = (ctx, name) => {
    const [role, number] = name.split(":");
    const found = ctx.sessionManager.getEntries().filter((e) => e.type === "message" && e.message.role === role);
    return found[Number(number)].id;
  };
  pi.registerCommand("mark", {
    description: "mark WHICH [LABEL]: no label clears",
    handler: async (args, ctx) => {
      const [name, ...words] = args.split(" ");
      pi.setLabel(which(ctx, name), words.length ? words.join(" ") : undefined);
    },
  });
  pi.registerCommand("go", {
    description: "go WHICH [summary]: to another place of the tree",
    handler: async (args, ctx) => {
      const [name, how] = args.split(" ");
      await ctx.navigateTree(which(ctx, name), { summarize: how === "summary" });
    },
  });
  pi.registerCommand("note", {
    description: "note TEXT: a message for the model, and an entry that it does not see",
    handler: async (args) => {
      pi.sendMessage({ customType: "note", content: args, display: true });
      pi.appendEntry("kept", { text: args });
    },
  });
  let edit = null;
  pi.registerCommand("edit", {
    description: "edit WHICH [TEXT]: at the end of the next turn, what the model is shown of it; no text takes it out",
    handler: async (args, ctx) => {
      const [name, ...words] = args.split(" ");
      const replacement = words.length ? { content: words.join(" ") } : null;
      edit = { type: "context_edit", targetId: which(ctx, name), replacement };
    },
  });
  pi.on("turn_end", async (event) => {
    if (!edit) return undefined;
    const entries = [...event.entries, edit];
    edit = null;
    return { entries };
  });
  pi.registerTool({
    name: "asks_a_model",
    label: "Asks a model",
    description: "Asks another model, and says what that took",
    parameters: { type: "object", properties: {} },
    async execute() {
      const cost = { input: 0.003, output: 0.0015, cacheRead: 0, cacheWrite: 0, total: 0.0045 };
      const usage = { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0, totalTokens: 1100, cost };
      return { content: [{ type: "text", text: "It agrees." }], details: {}, usage };
    },
  });
}
