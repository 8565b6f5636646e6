"""What the model was shown, held against what the agents themselves say of it, over real files.

Pi: what Pi 1.6.0 makes of each file when it loads it (`*.oracle.json`), and the messages it gave over RPC. Claude Code: the
requests that 2.1.332 stores beside the talk. Codex: its own migration of old files, and the numbers 0.169 gives its items.
"""

import json
import re
from collections import Counter

import pytest

from reading import SHARED, parse
from turnlog.formats import FORMATS, place_of
from turnlog.ledger.context import session_context
from turnlog.views.context import context

pytestmark = pytest.mark.shared

PI = SHARED / "real" / "pi"
CLAUDE = SHARED / "real" / "claude"
CODEX = SHARED / "real" / "codex"

REFUSED = {"edge/e04_no_header", "edge/e14_bom"}  # Pi refuses the file, so it says nothing of it
# Ids that Pi made at random when it migrated the file: the same up to names.
RANDOM_IDS = {"old/v0_30_2/tools.session.1", "edge/e17_version_missing_but_ids", "edge/e31b_v1_one_compaction"}
# Pi takes the number 5 for an id; we say a fault, and the entry has none (contract 6b).
NUMBER_FOR_ID = {"edge/e36_id_types"}


def shown(agent, data, name, at=None):
    items = parse(agent, data, place=place_of(name)).items
    return context(items, FORMATS[agent], lambda e: data[e.record.start : e.record.end], at)


# -- Pi


def oracles():
    return {
        path.relative_to(PI).as_posix().removesuffix(".oracle.json"): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(PI.rglob("*.oracle.json"))
    }


def in_their_words(view, names=None):
    """Our context as the oracle writes it: (leaf, branch, [[entry, role, ...]], model, level)."""
    names = names or {}
    found = []
    for row in view.context:
        entry = names.get(row.entry, row.entry)
        if found and found[-1][0] == entry:
            found[-1].append(row.role)
        else:
            found.append([entry, row.role])
    model = view.model and {"provider": view.model.provider, "modelId": view.model.model_id}
    branch = [names.get(entry, entry) for entry in view.branch]
    return [names.get(view.leaf, view.leaf), branch, found, model, view.thinking_level]


def test_the_context_of_every_file_is_pis_own():
    different = {}
    compared = 0
    for name, oracle in oracles().items():
        if "context" not in oracle:
            assert name in REFUSED
            continue
        path = PI / f"{name}.jsonl"
        view = shown("pi", path.read_bytes(), path.name)
        theirs = [oracle[key] for key in ("leafId", "branch", "context", "model", "thinkingLevel")]
        names = None
        if name in RANDOM_IDS:
            assert len(view.branch) == len(oracle["branch"])
            names = dict(zip(view.branch, oracle["branch"], strict=True))
        ours = in_their_words(view, names)
        compared += 1
        if ours != theirs:
            different[name] = (ours, theirs)

    assert set(different) == NUMBER_FOR_ID
    assert compared >= 73


def test_the_number_that_pi_takes_for_an_id_is_all_that_differs():
    name = next(iter(NUMBER_FOR_ID))
    theirs = oracles()[name]["context"]
    path = PI / f"{name}.jsonl"
    ours = in_their_words(shown("pi", path.read_bytes(), path.name))[2]

    assert [row for row in theirs if isinstance(row[0], str)] == ours
    assert [row[0] for row in theirs if not isinstance(row[0], str)] == [5]


def content_of(message):
    """What a message of Pi's says, as our rows do: (role, text, calls)."""
    if "summary" in message:
        return message["role"], message["summary"], []
    content = message.get("content") or ""
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    if message["role"] == "system":
        texts = ["\n\n".join(filter(None, [*texts, *(text for text in (message.get("sections") or {}).values())]))]
    calls = [block["id"] for block in blocks if block["type"] == "toolCall"]
    return message["role"], "\n".join(filter(None, texts)), calls


@pytest.mark.parametrize("version", ["160", "103"])
def test_the_messages_pi_gives_over_rpc_are_a_context_of_its_file_word_for_word(version):
    """Each answer to get_messages while the session went on is the context at one of its entries."""
    path = PI / version / "sessions" / "rpc_compact.1.jsonl"
    data = path.read_bytes()
    at_each = [
        [(row.role, row.text, [call.id for call in row.calls]) for row in shown("pi", data, path.name, entry).context]
        for entry in shown("pi", data, path.name).branch
    ]
    answers = []
    for text in (PI / version / "rpc" / "compact.stdout.jsonl").read_text(encoding="utf-8").split("\n"):
        said = json.loads(text) if text.strip() else {}
        if said.get("type") == "response" and said.get("command") == "get_messages":
            answers.append([content_of(message) for message in said["data"]["messages"]])

    assert len(answers) >= 4
    assert [answer for answer in answers if answer not in at_each] == []


# -- Claude Code: the stored requests. In the shared copies letters are x where the client wrote, so both sides are masked.

UUID = re.compile(r"[0-9a-fx]{8}-[0-9a-fx]{4}-[0-9a-fx]{4}-[0-9a-fx]{4}-[0-9a-fx]{12}")
ELSEWHERE = object()  # a message of a request that is only in the talk itself
WRAPPER = re.compile(r"</?xxxxxx-xxxxxxxx>")  # system-reminder


def masked(text):
    return re.sub("[A-Z]", "X", re.sub("[a-z]", "x", text)).strip()


def masked_ids(line):
    return UUID.sub(lambda found: re.sub("[a-f]", "x", found[0]), line)


def blocks_of(role, content):
    """A message of a request as (role, type, ...) of each block."""
    if isinstance(content, str):
        return [(role, "text", masked(content))]
    found = []
    for block in content:
        kind = block["type"]
        if kind == "text":
            found.append((role, "text", masked(block["text"])))
        elif kind == "tool_use":
            found.append((role, "tool_use", masked(block["id"]), masked(block["name"])))
        elif kind == "tool_result":
            inner = block.get("content") or ""
            if isinstance(inner, list):
                inner = "\n".join(part["text"] for part in inner if part["type"] == "text")
            found.append((role, "tool_result", masked(block["tool_use_id"]), masked(inner)))
        else:
            found.append((role, kind))
    return found


def blocks_shown(view):
    """Our rows the same way; and the texts of the system's role, which a request gathers."""
    found, system = [], []
    for row in view.context:
        if row.role == "system":
            system.append(row.text)
            continue
        if row.role == "assistant":
            found += [("assistant", "thinking")] * ((row.thinking is not None) + row.hidden)
        if row.answers:
            found += [("user", "tool_result", masked(call), masked(row.text)) for call in row.answers]
        elif row.text:
            found.append((row.role, "text", masked(row.text)))
        found += [(row.role, "tool_use", masked(call.id), masked(call.name)) for call in row.calls]
        found += [] if row.answers else [(row.role, "image")] * row.images
    return found, system


def gathered(blocks):
    """Neighbouring texts of the user's role as one, without wrappers and without the home, which is masked in two ways."""
    found = []
    for block in blocks:
        if found and ELSEWHERE not in (block, found[-1]) and block[:2] == ("user", "text") == found[-1][:2]:
            found[-1] = (*block[:2], f"{found[-1][2]}\n{block[2]}")
        else:
            found.append(block)
    return [unwrapped(block) if block is not ELSEWHERE and block[:2] == ("user", "text") else block for block in found]


def unwrapped(block):
    text = re.sub("/xxxx?/x+(?=/xxxxxx/)", "/H", WRAPPER.sub("", block[2]))
    return (*block[:2], re.sub("\n+", "\n", text).strip())


def fits(ours, theirs):
    """Whether our blocks are the request's: one by one, where the client may have wrapped a user's text when it sent it,
    or with neighbouring texts put together."""
    return matches(ours, theirs, wrapped=True) or matches(gathered(ours), gathered(theirs), wrapped=False)


def matches(ours, theirs, *, wrapped):
    """A message that is only in the talk stands for one or more of our blocks, of one role."""
    ends = {0}
    for block in theirs:
        reached = set()
        for at in ends:
            if block is ELSEWHERE:
                end = at
                while end < len(ours) and ours[end][0] == ours[at][0]:
                    end += 1
                    reached.add(end)
            elif at < len(ours) and (
                ours[at] == block
                or (wrapped and ours[at][:2] == ("user", "text") == block[:2] and ours[at][2] in block[2])
            ):
                reached.add(at + 1)
        ends = reached
    return len(ours) in ends


def requests_of(records):
    """Each stored request's messages by its id, put together from what it shares with the one before."""
    blobs = {record["hash"]: record["message"] for record in records if record.get("type") == "api-request-blob"}
    requests = {}
    for record in records:
        if record.get("type") == "api-request" and (not record.get("base") or record["base"] in requests):
            before = requests[record["base"]][: record["keep"]] if record.get("base") else []
            requests[record["id"]] = [*before, *(blobs.get(key) for key in record["tail"])]
    return requests


def asked_with_requests():
    for path in sorted(CLAUDE.rglob("*.jsonl")):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if '"type":"api-request"' not in text or "stdout" in path.parts:
            continue
        lines = [masked_ids(line) for line in text.split("\n")]
        records = []
        for line in lines:
            try:
                records.append(json.loads(line))
            except ValueError:
                records.append({})
        yield path, "\n".join(lines).encode(errors="surrogateescape"), records


def compared_requests():
    """(file, our view, the request's messages) at the entry on which each first answer hangs."""
    for path, data, records in asked_with_requests():
        answers = {}
        for record in records:
            if record.get("type") == "assistant" and record.get("requestRef"):
                answers.setdefault(record["requestRef"], record["parentUuid"])
        for key, messages in requests_of(records).items():
            if key in answers:
                yield path, shown("claude", data, str(path), answers[key]), messages


def test_what_claude_code_was_shown_is_what_its_stored_requests_say():
    different, counts = [], Counter()
    for path, view, messages in compared_requests():
        theirs, system = [], ""
        for message in messages:
            if message is None:
                theirs.append(ELSEWHERE)
            elif message["role"] == "system":
                system += "\n" + "\n".join(block[2] for block in blocks_of("system", message["content"]))
            else:
                theirs += blocks_of(message["role"], message["content"])
        ours, reminders = blocks_shown(view)
        counts["requests"] += 1
        counts["blocks"] += sum(block is not ELSEWHERE for block in theirs)
        if not fits(ours, theirs):
            different.append(path.name)
        told = [WRAPPER.sub("", masked(text)).strip() for text in reminders]
        if any(text not in system for text in told):
            different.append(f"{path.name}: system")

    assert different == []
    assert counts["requests"] >= 140
    assert counts["blocks"] >= 500


def test_a_wrong_context_does_not_fit_a_stored_request():
    refused = held = 0
    for _, view, messages in compared_requests():
        theirs = []
        for message in messages:
            if message is not None and message["role"] != "system":
                theirs += blocks_of(message["role"], message["content"])
        if None in messages or len(theirs) < 3:
            continue
        ours, _ = blocks_shown(view)
        held += 1
        for wrong in (ours[1:], ours[:-1], [*ours, ours[-1]], [ours[0], *ours]):
            refused += not fits(wrong, theirs)

    assert held >= 10
    assert refused == 4 * held


# -- Codex


def test_what_codex_kept_when_it_migrated_a_file_is_the_context_before_and_after():
    folder = CODEX / "0.169.0" / "migrated_rollouts"
    compared, reasons = 0, Counter()
    for before in sorted((folder / "before_migration").rglob("rollout*.jsonl")):
        after = next((folder / "codex_home").rglob(before.name), None)
        if after is None:
            continue
        old, new = (shown("codex", path.read_bytes(), path.name) for path in (before, after))
        assert [(r.role, r.kind, r.text) for r in old.context] == [(r.role, r.kind, r.text) for r in new.context]
        assert old.model == new.model
        compared += 1
        reasons += Counter(left.reason for left in old.left_out)

    assert compared >= 9
    assert reasons["compacted"]
    assert reasons["rolled_back"]


def numbers_of(view, path):
    """The client's own number of each item that is shown; of one inside a compaction by the list beside it."""
    lines, used, found = {}, Counter(), []
    for row in view.context:
        file = row.file or str(path)
        if file not in lines:
            with open(file, "rb") as handle:
                lines[file] = handle.read().split(b"\n")
        record = json.loads(lines[file][row.line - 1])
        if record["type"] == "compacted":
            place = (file, row.line)
            found.append(record["payload"]["replacement_history_metadata"][used[place]]["history_sequence"])
            used[place] += 1
        else:
            found.append(record.get("metadata", {}).get("history_sequence"))
    return found


def test_each_answer_of_codex_was_sampled_through_the_last_item_that_is_shown():
    """0.169 numbers the items of its history and says with each answer through which one it was sampled. Before the first
    compaction there are no gaps but for definitions of tools, which are no message; forks and reverts count on."""
    different, compared = [], 0
    for path in sorted((CODEX / "0.169.0").rglob("rollout*.jsonl")):
        lines = path.read_bytes().split(b"\n")
        heads = []
        tools = set()
        for n, text in enumerate(lines, 1):
            if not text.startswith(b"{") or not text.endswith(b"}"):
                continue
            try:
                record = json.loads(text)
            except ValueError:
                continue
            number = record.get("metadata", {}).get("history_sequence")
            payload = record.get("payload", {})
            if payload.get("type") == "additional_tools":
                tools.add(number)
            if record.get("type") == "compacted" and "replacement_history_metadata" in payload:
                heads.append((n, 0, True))
            if record.get("type") != "response_item" or number is None:
                continue
            through = record["metadata"]["sampled_through_sequence"]
            answers = payload.get("role") == "assistant" or payload["type"] in (
                "function_call",
                "custom_tool_call",
                "reasoning",
            )
            if answers:
                at = max((line for line, seen, _ in heads if seen <= through), default=n - 1)
                view = session_context(str(path), at=str(at))
                numbers = numbers_of(view, path)
                whole = any(compaction for _, _, compaction in heads) or set(numbers) | tools == set(
                    range(1, through + 1)
                )
                compared += 1
                if None in numbers or len(set(numbers)) < len(numbers) or max(numbers) != through or not whole:
                    different.append((path.name, n))
            heads.append((n, number, False))

    assert different == []
    assert compared >= 100
