"""What the model was shown: selection, order, edits, and what was left out with its reason, by the rule of each agent."""

import time

import pytest

from commands import line, user
from reading import CASES, IDS, parse, place
from turnlog.formats import FORMATS
from turnlog.views.context import NoSuchEntry, context, entries_of, entry_at
from turnlog.views.tree import tree

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


def shown(agent, data, at=None, **more):
    return context(parse(agent, data, **more).items, FORMATS[agent], lambda e: data[e.record.start : e.record.end], at)


def rows(view):
    return [(row.entry, row.role, row.text) for row in view.context]


def reasons(view):
    return {left.entry: left.reason for left in view.left_out}


# -- Pi


def pi(*entries, cut=True):
    """A session of Pi: each entry is (id, type, fields); its parent is the one before unless the fields say so."""
    out = [line(type="session", version=3, id="s", timestamp="2026-05-01T10:00:00.000Z", cwd="/x")]
    before = None
    for key, kind, fields in entries:
        out.append(
            line(**{"type": kind, "id": key, "parentId": before, "timestamp": "2026-05-01T10:00:00.000Z", **fields})
        )
        before = key
    return b"".join(out)


def said(role, text, **more):
    return {"message": {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1, **more}}


def pi_talk():
    return [
        ("sys1", "message", said("system", "be good")),
        ("u1", "message", said("user", "one")),
        ("a1", "message", said("assistant", "first", provider="p", model="m")),
        ("u2", "message", said("user", "two")),
        ("a2", "message", said("assistant", "second", provider="p", model="m2")),
    ]


def test_a_branch_without_compaction_is_all_of_its_messages():
    view = shown("pi", pi(*pi_talk()))

    assert rows(view) == [
        ("sys1", "system", "be good"),
        ("u1", "user", "one"),
        ("a1", "assistant", "first"),
        ("u2", "user", "two"),
        ("a2", "assistant", "second"),
    ]
    assert view.left_out == []
    assert view.silent == {}
    assert (view.leaf, view.branch) == ("a2", ["sys1", "u1", "a1", "u2", "a2"])
    assert (view.messages, view.characters) == (5, sum(len(row.text) for row in view.context))


def test_the_last_compaction_stands_first_with_its_instructions_and_then_what_it_kept():
    system = {"role": "system", "content": "", "sections": {"a": "new rules", "b": None}}
    data = pi(
        *pi_talk(),
        ("c1", "compaction", {"summary": "sum", "firstKeptEntryId": "u2", "tokensBefore": 9, "systemMessage": system}),
        ("u3", "message", said("user", "three")),
    )
    view = shown("pi", data)

    assert rows(view) == [
        ("c1", "system", "new rules"),
        ("c1", "compactionSummary", "sum"),
        ("u2", "user", "two"),
        ("a2", "assistant", "second"),
        ("u3", "user", "three"),
    ]
    assert [row.kind for row in view.context[:2]] == ["system", "compaction_summary"]
    assert reasons(view) == {"sys1": "compacted", "u1": "compacted", "a1": "compacted"}
    assert {left.by for left in view.left_out} == {"c1"}


def test_older_compactions_and_instructions_inside_the_kept_range_say_nothing():
    data = pi(
        ("u1", "message", said("user", "one")),
        ("c1", "compaction", {"summary": "old", "firstKeptEntryId": "u1", "tokensBefore": 9}),
        ("sys2", "message", said("system", "late")),
        ("u2", "message", said("user", "two")),
        ("c2", "compaction", {"summary": "new", "firstKeptEntryId": "u1", "tokensBefore": 9}),
    )
    view = shown("pi", data)

    assert rows(view) == [("c2", "compactionSummary", "new"), ("u1", "user", "one"), ("u2", "user", "two")]
    assert reasons(view) == {"c1": "older_compaction", "sys2": "replaced_system"}


@pytest.mark.parametrize("first", ["nowhere", "c1", None])
def test_a_first_entry_that_is_not_on_the_branch_keeps_nothing(first):
    data = pi(*pi_talk(), ("c1", "compaction", {"summary": "sum", "firstKeptEntryId": first, "tokensBefore": 9}))

    assert rows(shown("pi", data)) == [("c1", "compactionSummary", "sum")]


def test_a_compaction_on_a_branch_that_was_left_does_not_count():
    data = pi(
        *pi_talk(),
        ("c1", "compaction", {"summary": "sum", "firstKeptEntryId": "a2", "tokensBefore": 9}),
        ("u3", "message", {**said("user", "another way"), "parentId": "a1"}),
    )
    view = shown("pi", data)

    assert [row.entry for row in view.context] == ["sys1", "u1", "a1", "u3"]
    assert view.elsewhere == 3


def test_the_last_edit_of_each_target_counts_and_says_who_made_it():
    data = pi(
        *pi_talk(),
        ("e1", "context_edit", {"targetId": "u1", "replacement": None}),
        ("e2", "context_edit", {"targetId": "u1", "replacement": {"content": "uno"}}),
        ("e3", "context_edit", {"targetId": "a2", "replacement": None}),
        ("e4", "context_edit", {"targetId": "a1", "replacement": {"content": [{"type": "text", "text": "erst"}]}}),
    )
    view = shown("pi", data)

    assert [(row.entry, row.text, row.edited_by) for row in view.context] == [
        ("sys1", "be good", None),
        ("u1", "uno", "e2"),
        ("a1", "erst", "e4"),
        ("u2", "two", None),
    ]
    assert [(left.entry, left.reason, left.by) for left in view.left_out] == [("a2", "taken_out", "e3")]
    assert view.silent == {"context_edit": 4}


def test_an_edit_before_the_kept_range_or_on_another_branch_changes_nothing():
    data = pi(
        ("u1", "message", said("user", "one")),
        ("e1", "context_edit", {"targetId": "u2", "replacement": None}),
        ("u2", "message", {**said("user", "two"), "parentId": "u1"}),
        ("e2", "context_edit", {"targetId": "u3", "replacement": None}),
        ("u3", "message", said("user", "three")),
        ("c1", "compaction", {"summary": "sum", "firstKeptEntryId": "u3", "tokensBefore": 9}),
    )

    assert rows(shown("pi", data)) == [("c1", "compactionSummary", "sum"), ("u3", "user", "three")]


def test_shell_lines_are_shown_unless_the_person_kept_them_back():
    shell = {
        "role": "bashExecution",
        "command": "ls",
        "output": "a.py",
        "cancelled": False,
        "truncated": False,
        "timestamp": 1,
    }
    data = pi(
        ("b1", "message", {"message": shell}),
        ("b2", "message", {"message": {**shell, "excludeFromContext": True}}),
    )
    view = shown("pi", data)

    assert [(row.entry, row.kind, row.text) for row in view.context] == [("b1", "command", "ls\na.py")]
    assert reasons(view) == {"b2": "excluded"}


def test_branch_summaries_and_messages_of_extensions_are_shown_and_empty_summaries_are_not():
    data = pi(
        ("x1", "custom_message", {"customType": "note", "content": "hear", "display": True}),
        ("s1", "branch_summary", {"fromId": "root", "summary": "went there"}),
        ("s2", "branch_summary", {"fromId": "root", "summary": ""}),
        ("f1", "future_thing", {"deep": [1]}),
        ("l1", "label", {"targetId": "x1", "label": "good"}),
    )
    view = shown("pi", data)

    assert [(row.entry, row.role, row.kind, row.name, row.text) for row in view.context] == [
        ("x1", "custom", "custom", "note", "hear"),
        ("s1", "branchSummary", "branch_summary", None, "went there"),
    ]
    assert reasons(view) == {"s2": "empty", "f1": "unknown_type"}
    assert view.silent == {"label": 1}


def test_calls_results_thoughts_and_pictures_stand_in_the_rows():
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "look"},
        {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}},
    ]
    result = {"role": "toolResult", "toolCallId": "t1", "toolName": "bash", "isError": True, "timestamp": 1}
    picture = [{"type": "text", "text": "no"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]
    data = pi(
        ("a1", "message", {"message": {"role": "assistant", "content": content, "timestamp": 1}}),
        ("r1", "message", {"message": {**result, "content": picture}}),
    )
    asked, answered = shown("pi", data).context

    assert (asked.text, asked.thinking, asked.characters) == (
        "look",
        "hm",
        len("look") + len("hm") + len('{"command":"ls"}'),
    )
    assert [(call.id, call.name, call.arguments) for call in asked.calls] == [("t1", "bash", {"command": "ls"})]
    assert (answered.kind, answered.role, answered.name) == ("tool_result", "toolResult", "bash")
    assert (answered.answers, answered.is_error, answered.images, answered.text) == (["t1"], True, 1, "no")


def test_model_and_thinking_level_are_the_last_on_the_whole_branch():
    data = pi(
        ("m1", "model_change", {"provider": "p0", "modelId": "m0"}),
        ("t1", "thinking_level_change", {"thinkingLevel": "high"}),
        *pi_talk(),
        ("m2", "model_change", {"provider": "p3", "modelId": "m3"}),
        ("c1", "compaction", {"summary": "sum", "firstKeptEntryId": "m2", "tokensBefore": 9}),
    )

    def at(key):
        view = shown("pi", data, key)
        return view.model.provider, view.model.model_id, view.thinking_level

    assert at("m1") == ("p0", "m0", "off")
    assert at("a1") == ("p", "m", "high")
    assert at("c1") == ("p3", "m3", "high")
    assert shown("pi", pi(("u1", "message", said("user", "x")))).model is None


def test_an_entry_is_named_by_id_by_the_beginning_of_one_or_by_a_line():
    data = pi(("aaaa1111", "message", said("user", "one")), ("aaab2222", "message", said("user", "two")))

    assert shown("pi", data, "aaaa1111").branch == ["aaaa1111"]
    assert shown("pi", data, "aaab").leaf == "aaab2222"
    assert shown("pi", data, "2").leaf == "aaaa1111"
    for word in ("aaa", "zz", "", "1", "99"):
        with pytest.raises(NoSuchEntry):
            shown("pi", data, word)


def test_an_id_of_digits_comes_before_a_line_of_that_number():
    data = pi(("3", "message", said("user", "one")), ("x", "message", said("user", "two")))

    assert shown("pi", data, "3").leaf == "3"


def test_a_circle_of_parents_and_a_missing_parent_end_the_branch_and_are_told():
    circle = pi(
        ("u1", "message", {**said("user", "one"), "parentId": "u2"}),
        ("u2", "message", {**said("user", "two"), "parentId": "u1"}),
    )
    orphan = pi(("u1", "message", {**said("user", "one"), "parentId": "gone"}))

    for data in (circle, orphan):
        view = shown("pi", data)
        assert view.context
        assert len(view.doubts) == 1
    assert shown("pi", pi(*pi_talk())).doubts == []


def test_a_chain_of_fifty_thousand_entries_is_walked_without_a_stack():
    begun = time.process_time()
    view = shown("pi", pi(*((f"k{n}", "message", said("user", "x")) for n in range(50_000))), max_file_bytes=None)

    assert view.messages == 50_000
    assert time.process_time() - begun < 20


@pytest.mark.parametrize(
    "spoil", [("rules", "\\ud83d rules"), ("rules", "\xff rules"), ('"sections"', '"stray":NaN,"sections"')]
)
def test_instructions_inside_a_damaged_compaction_are_still_shown(spoil):
    system = {"role": "system", "content": "", "sections": {"a": "rules"}}
    good = pi(
        ("c1", "compaction", {"summary": "sum", "firstKeptEntryId": "c1", "tokensBefore": 9, "systemMessage": system})
    )
    view = shown("pi", good.replace(*(part.encode("latin-1") for part in spoil)))

    assert [row.role for row in view.context] == ["system", "compactionSummary"]
    assert view.context[0].text.endswith("rules")


# -- Claude Code


def answer(key, parent, *blocks, message="m1", **more):
    said = {"role": "assistant", "id": message, "model": "m", "content": list(blocks)}
    return line(uuid=key, parentUuid=parent, sessionId=SESSION, type="assistant", message=said, **more)


def text(words):
    return {"type": "text", "text": words}


def use(call):
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": call}}


def result(key, parent, call, words="done"):
    block = {"type": "tool_result", "tool_use_id": call, "content": words}
    return line(
        uuid=key, parentUuid=parent, sessionId=SESSION, type="user", message={"role": "user", "content": [block]}
    )  # fmt: skip


def attachment(key, parent, kind, rendered=None, role=None):
    more = {} if rendered is None else {"rendered": [{"content": rendered}], "renderedRole": role}
    return line(uuid=key, parentUuid=parent, sessionId=SESSION, type="attachment", attachment={"type": kind}, **more)


def boundary(key, logical, **metadata):
    return line(
        uuid=key, parentUuid=None, logicalParentUuid=logical, sessionId=SESSION, type="system",
        subtype="compact_boundary", content="Conversation compacted", compactMetadata=metadata,
    )  # fmt: skip


def summary(key, parent):
    return user(key, parent, "the story so far", isCompactSummary=True)


def order(view):
    return [row.entry for row in view.context]


def test_results_of_parallel_calls_are_shown_though_the_chain_passes_them_by():
    data = (
        user("u1")
        + answer("a1", "u1", text("both"))
        + answer("a2", "a1", use("t1"))
        + answer("a3", "a2", use("t2"))
        + result("r1", "a2", "t1")
        + result("r2", "a3", "t2")
        + answer("a4", "r2", text("so"), message="m2")
    )
    view = shown("claude", data)

    assert view.branch == ["u1", "a1", "a2", "a3", "r2", "a4"]
    assert order(view) == ["u1", "a1", "a2", "a3", "r1", "r2", "a4"]
    assert [row.message_id for row in view.context if row.role == "assistant"] == ["m1"] * 3 + ["m2"]


def test_lines_of_an_answer_that_a_result_parted_stand_together_its_calls_last():
    data = (
        user("u1")
        + answer("a1", "u1", use("t1"))
        + result("r1", "a1", "t1")
        + answer("a2", "r1", text("between"))
        + answer("a3", "a2", use("t2"))
        + result("r2", "a3", "t2")
    )

    assert order(shown("claude", data)) == ["u1", "a2", "a1", "a3", "r1", "r2"]


def test_after_a_compaction_stand_its_summary_what_it_preserved_and_what_came_later():
    data = (
        user("u1")
        + answer("a1", "u1", text("one"))
        + user("u2", "a1")
        + answer("a2", "u2", text("two"), message="m2")
        + boundary("b1", "a2", preservedMessages={"anchorUuid": "s1", "uuids": ["u2", "a2"], "allUuids": ["u2", "a2"]})
        + summary("s1", "b1")
        + user("u3", "s1")
    )
    view = shown("claude", data)

    assert order(view) == ["s1", "u2", "a2", "u3"]
    assert view.context[0].kind == "compaction_summary"
    assert reasons(view) == {"u1": "compacted", "a1": "compacted", "b1": "boundary"}
    assert view.branch == ["u1", "a1", "u2", "a2", "b1", "s1", "u3"]
    assert order(shown("claude", data, "a2")) == ["u1", "a1", "u2", "a2"]


def test_a_preserved_segment_is_kept_where_only_its_ends_are_named():
    data = (
        user("u1")
        + answer("a1", "u1", text("one"))
        + user("u2", "a1")
        + boundary("b1", "u2", preservedSegment={"headUuid": "a1", "tailUuid": "u2", "anchorUuid": "s1"})
        + summary("s1", "b1")
    )

    assert order(shown("claude", data)) == ["s1", "a1", "u2"]


def test_of_two_compactions_the_last_one_on_the_branch_counts():
    data = (
        user("u1")
        + boundary("b1", "u1")
        + summary("s1", "b1")
        + user("u2", "s1")
        + boundary("b2", "u2")
        + summary("s2", "b2")
    )
    view = shown("claude", data)

    assert order(view) == ["s2"]
    assert reasons(view) == {
        "u1": "compacted", "b1": "older_compaction", "s1": "compacted", "u2": "compacted", "b2": "boundary",
    }  # fmt: skip


def test_errors_of_the_client_and_words_for_its_screen_are_left_out_and_notes_to_the_model_are_not():
    data = (
        user("u1")
        + answer("e1", "u1", text("API Error: 529"), message="x1", isApiErrorMessage=True)
        + line(uuid="i1", parentUuid="e1", sessionId=SESSION, type="system", subtype="informational", content="hello")
        + line(
            uuid="l1",
            parentUuid="i1",
            sessionId=SESSION,
            type="system",
            subtype="local_command",
            content="<command-name>/x</command-name>",
        )
        + user("n1", "l1", "go on", isMeta=True)
        + user("u2", "n1", "again")
    )
    view = shown("claude", data)

    assert [(row.entry, row.kind) for row in view.context] == [
        ("u1", "message"), ("l1", "command"), ("n1", "reminder"), ("u2", "message"),
    ]  # fmt: skip
    assert reasons(view) == {"e1": "api_error", "i1": "client_only"}


def test_an_answer_of_nothing_but_thoughts_is_shown_only_while_it_is_the_last():
    thought = {"type": "thinking", "thinking": "hm", "signature": "x"}
    data = user("u1") + answer("a1", "u1", thought) + user("u2", "a1", "speak", isMeta=True)

    assert order(shown("claude", data, "a1")) == ["u1", "a1"]
    view = shown("claude", data)
    assert order(view) == ["u1", "u2"]
    assert reasons(view) == {"a1": "empty"}


def test_reminders_in_the_persons_role_rise_above_the_prompt_they_were_made_for():
    data = (
        user("u1")
        + attachment("x1", "u1", "remote_session_change", "be brief", "user")
        + attachment("x2", "x1", "date", "today", "system")
        + attachment("x3", "x2", "prompt_snapshot")
        + answer("a1", "x3", text("one"))
        + user("u2", "a1")
        + attachment("x4", "u2", "file", "a file", "user")
    )
    view = shown("claude", data)

    assert [(row.entry, row.role, row.name, row.text) for row in view.context] == [
        ("x1", "user", "remote_session_change", "be brief"),
        ("u1", "user", None, "hello"),
        ("x2", "system", "date", "today"),
        ("a1", "assistant", None, "one"),
        ("x4", "user", "file", "a file"),
        ("u2", "user", None, "hello"),
    ]
    assert view.silent == {"attachment": 1}


def test_the_effort_of_the_last_answer_is_the_thinking_level():
    data = user("u1") + answer("a1", "u1", text("one"), effort="high") + user("u2", "a1")
    data += answer("a2", "u2", text("two"), message="m2", effort="low") + answer("a3", "a2", text("x"), message="m3")

    assert [shown("claude", data, at).thinking_level for at in ("u1", "u2", "a2", "a3")] == [None, "high", "low", None]


def test_a_subagents_lines_in_the_same_file_are_none_of_the_main_context():
    data = (
        user("u1")
        + user("t1", None, "the task", isSidechain=True)
        + answer("s1", "t1", text("aside"), message="m9", isSidechain=True)
        + answer("a1", "u1", text("main"))
    )

    assert order(shown("claude", data)) == ["u1", "a1"]
    assert order(shown("claude", data, "s1")) == ["t1", "s1"]


# -- Codex


def item(kind, **payload):
    return line(timestamp="2026-05-01T10:00:00.000Z", type="response_item", payload={"type": kind, **payload})


def message(role, words, **more):
    part = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": part, "text": words}], **more}


def codex(*lines):
    meta = {"id": SESSION, "cwd": "/x", "cli_version": "0.150.0", "source": "exec", "model_provider": "openai"}
    head = line(timestamp="2026-05-01T10:00:00.000Z", type="session_meta", payload=meta)
    return head + b"".join(lines)


def spoke(role, words):
    return item(**{"kind": "message", **{k: v for k, v in message(role, words).items() if k != "type"}})


def event(kind, **payload):
    return line(timestamp="2026-05-01T10:00:00.000Z", type="event_msg", payload={"type": kind, **payload})


def compacted(**payload):
    return line(timestamp="2026-05-01T10:00:00.000Z", type="compacted", payload=payload)


def words(view):
    return [(row.role, row.kind, row.text) for row in view.context]


def test_a_compaction_puts_its_own_history_in_the_place_of_all_before():
    history = [
        message("developer", "rules"),
        message("user", "one"),
        message("user", "SUM"),
        {"type": "compaction", "encrypted_content": "x"},
    ]
    data = codex(
        spoke("developer", "rules"),
        spoke("user", "one"),
        item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        item("function_call_output", call_id="c1", output="a.py"),
        compacted(message="SUM", replacement_history=history),
        spoke("assistant", "on"),
    )
    view = shown("codex", data)

    assert words(view) == [
        ("developer", "system", "rules"),
        ("user", "message", "one"),
        ("user", "compaction_summary", "SUM"),
        ("compaction", "compaction_summary", ""),
        ("assistant", "message", "on"),
    ]
    assert view.context[3].hidden == 1
    assert [row.line for row in view.context] == [6, 6, 6, 6, 7]
    assert [(left.line, left.reason, left.by_line) for left in view.left_out] == [
        (n, "compacted", 6) for n in (2, 3, 4, 5)
    ]
    assert [row.kind for row in shown("codex", data, "5").context] == ["system", "message", "message", "tool_result"]


def test_an_item_inside_a_compaction_is_read_as_far_as_it_can_be_and_an_unknown_one_is_a_doubt():
    history = [message("user", "LONE"), {**message("user", "two"), "id": 7}, {"type": "hologram"}, 7]
    data = codex(compacted(message="", replacement_history=history)).replace(b"LONE", b"\\ud83d")
    view = shown("codex", data)

    assert [row.text for row in view.context] == ["\ud83d", "two"]
    assert len(view.doubts) == 1


def test_a_compaction_without_history_is_built_as_the_client_does_and_the_doubt_is_told():
    data = codex(
        spoke("developer", "rules"),
        spoke("user", "<environment_context>here</environment_context>"),
        spoke("user", "one"),
        spoke("assistant", "first"),
        spoke("user", "two"),
        compacted(message="SUM"),
        spoke("assistant", "on"),
    )
    view = shown("codex", data)

    assert [row.text for row in view.context] == [
        "rules", "<environment_context>here</environment_context>", "one", "two", "SUM", "on",
    ]  # fmt: skip
    assert [(left.line, left.reason) for left in view.left_out] == [(5, "compacted")]
    assert len(view.doubts) == 1


@pytest.mark.parametrize(
    "turns, kept",
    [(0, ["rules", "one", "first", "two", "second"]), (1, ["rules", "one", "first"]), (2, ["rules"]), (9, ["rules"])],
)
def test_a_rollback_undoes_the_last_turns_and_never_what_stands_before_the_first(turns, kept):
    data = codex(
        spoke("developer", "rules"),
        spoke("user", "one"),
        spoke("assistant", "first"),
        spoke("user", "two"),
        spoke("assistant", "second"),
        event("thread_rolled_back", num_turns=turns),
        spoke("user", "after"),
    )
    view = shown("codex", data)

    assert [row.text for row in view.context] == [*kept, "after"]
    assert [left.reason for left in view.left_out] == ["rolled_back"] * (5 - len(kept))


def test_model_provider_and_effort_are_those_of_the_last_turn():
    data = codex(
        line(timestamp="2026-05-01T10:00:00.000Z", type="turn_context", payload={"model": "m1", "effort": "high"}),
        spoke("user", "one"),
        line(timestamp="2026-05-01T10:00:00.000Z", type="turn_context", payload={"model": "m2"}),
        spoke("user", "two"),
    )

    def at(where):
        view = shown("codex", data, where)
        return view.model.provider, view.model.model_id, view.thinking_level

    assert at("3") == ("openai", "m1", "high")
    assert at("5") == ("openai", "m2", None)


# -- swink-agent


def test_an_append_that_was_never_committed_is_left_out():
    meta = {"id": "s", "title": "t", "created_at": "2026-05-01T10:00:00Z", "updated_at": "2026-05-01T10:00:00Z"}
    said = {"role": "user", "content": [{"type": "text", "text": "one"}], "timestamp": 1}
    begin = line(_append=True, phase="begin")
    data = line(**meta) + line(**said) + begin + line(**said) + line(_meta=True, data=meta) + begin + line(**said)
    view = shown("swink", data)

    assert [row.line for row in view.context] == [2, 4]
    assert [(left.line, left.reason) for left in view.left_out] == [(7, "uncommitted")]


# -- all agents


@pytest.mark.parametrize("agent, path", CASES, ids=IDS)
def test_every_entry_of_a_branch_is_shown_left_out_or_silent_and_never_two_of_these(agent, path):
    data = path.read_bytes()
    items = parse(agent, data, place=place(path)).items
    places = [e.record.line for e in entries_of(items)] or [None]
    for at in {places[0], places[len(places) // 2], None}:
        try:
            view = shown(agent, data, None if at is None else str(at), place=place(path))
        except NoSuchEntry:
            continue
        seen = {row.start for row in view.context}
        left = [row.start for row in view.left_out]
        if FORMATS[agent].tree is not None:
            branch = len(tree(items, FORMATS[agent].tree).along(view.leaf)) if view.leaf is not None else 0
        else:
            branch = sum(entry.record.line <= (view.line or 0) for entry in entries_of(items))
        assert len(seen | set(left)) == len(seen) + len(left)
        assert len(seen) + len(left) + sum(view.silent.values()) == branch
        for row in [*view.context, *view.left_out]:
            assert 0 <= row.start < row.end <= len(data)


def test_an_entry_is_found_among_records_that_have_no_ids():
    items = parse("codex", codex(spoke("user", "one"), spoke("user", "two"))).items

    assert entry_at(entries_of(items), "2").record.line == 2
    with pytest.raises(NoSuchEntry):
        entry_at(entries_of(items), "4")
