"""What Pi's RPC mode answers, as structs: unknown fields are skipped, absent ones are None.

Names are Pi's own, in Python's spelling (`sessionFile` is `session_file`). What a session holds (messages, entries) is
kept as plain JSON values: a reader of sessions knows them better.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Answer(msgspec.Struct, rename="camel", kw_only=True):
    """The base of every answer."""


class Accepted(Answer):
    """What became of a message. disposition: started, queued, or handled (an extension took it: no run was started)."""

    disposition: str | None = None


class Settled(Answer):
    """A run is over, and nothing more happens by itself. aborted: None where the version does not say (before 1.1)."""

    aborted: bool | None = None


class Model(Answer):
    """A model. cost: US dollars for a million tokens, by kind of token."""

    id: str
    provider: str | None = None
    name: str | None = None
    api: str | None = None
    base_url: str | None = None
    reasoning: bool | None = None
    input: list[str] | None = None
    cost: dict[str, Any] | None = None
    context_window: int | float | None = None
    max_tokens: int | float | None = None


class State(Answer):
    """How the session stands."""

    session_id: str
    session_file: str | None = None
    session_name: str | None = None
    model: Model | None = None
    thinking_level: str | None = None
    is_streaming: bool | None = None
    is_compacting: bool | None = None
    steering_mode: str | None = None
    follow_up_mode: str | None = None
    auto_compaction_enabled: bool | None = None
    message_count: int | None = None
    pending_message_count: int | None = None


class Queue(Answer):
    """Texts of messages that waited for their turn."""

    steering: list[str] = msgspec.field(default_factory=list)
    follow_up: list[str] = msgspec.field(default_factory=list)


class ModelCycle(Answer):
    """The model that was gone on to."""

    model: Model
    thinking_level: str | None = None
    is_scoped: bool | None = None


class Models(Answer):
    """Models that can be used."""

    models: list[Model]


class ThinkingLevel(Answer):
    """The thinking level that was gone on to."""

    level: str


class ThinkingLevels(Answer):
    """Thinking levels of the model."""

    levels: list[str]


class Compacted(Answer):
    """A compaction. tokens_before, estimated_tokens_after: context sizes, no consumption; `usage` is."""

    summary: str
    first_kept_entry_id: str | None = None
    tokens_before: int | float | None = None
    estimated_tokens_after: int | float | None = None
    usage: dict[str, Any] | None = None
    details: Any = None


class BashOutput(Answer):
    """What a shell command printed. exit_code: None where it was cancelled."""

    output: str
    exit_code: int | None = None
    cancelled: bool = False
    truncated: bool = False
    full_output_path: str | None = None


class SpentTokens(Answer):
    """Tokens of a whole session; `input` leaves out what came from or went to the cache."""

    input: int | float | None = None
    output: int | float | None = None
    cache_read: int | float | None = None
    cache_write: int | float | None = None
    total: int | float | None = None


class ContextUsage(Answer):
    """How full the model's context is; tokens and percent are None right after a compaction."""

    tokens: int | float | None = None
    context_window: int | float | None = None
    percent: int | float | None = None


class SessionStats(Answer):
    """Pi's own sums over all branches of the session. cost: US dollars."""

    session_id: str
    session_file: str | None = None
    user_messages: int | None = None
    assistant_messages: int | None = None
    tool_calls: int | None = None
    tool_results: int | None = None
    total_messages: int | None = None
    tokens: SpentTokens | None = None
    cost: float | None = None
    context_usage: ContextUsage | None = None


class Exported(Answer):
    """Where the page lies."""

    path: str


class Switched(Answer):
    """Whether another session is in use now. cancelled: an extension did not want it. text: of the prompt that a fork
    stands before."""

    cancelled: bool = False
    text: str | None = None


class ForkMessage(Answer):
    """A prompt that can be forked at."""

    entry_id: str
    text: str | None = None


class ForkMessages(Answer):
    """Prompts of all branches."""

    messages: list[ForkMessage]


class Entries(Answer):
    """Entries in the order they were appended, without the header, as plain values."""

    entries: list[dict[str, Any]]
    leaf_id: str | None = None


class TreeNode(Answer):
    """An entry in its place. depth: 0 for a root; parent: the index of the node above, None for a root."""

    entry: dict[str, Any]
    depth: int = 0
    parent: int | None = None
    label: str | None = None
    label_timestamp: str | None = None


class Tree(Answer):
    """The session's tree laid flat, each node before its children: a long session is thousands of levels deep."""

    nodes: tuple[TreeNode, ...]
    leaf_id: str | None = None


class Text(Answer):
    """A text, None where there is none."""

    text: str | None = None


class Messages(Answer):
    """The messages of the conversation, as plain values."""

    messages: list[dict[str, Any]]


class SlashCommand(Answer):
    """Something a prompt can begin with, after a slash. source: extension, prompt or skill."""

    name: str
    description: str | None = None
    source: str | None = None
    source_info: dict[str, Any] | None = None


class SlashCommands(Answer):
    """What there is."""

    commands: list[SlashCommand]


class UiRequest(Answer):
    """An extension asks. method: select, confirm, input or editor; timeout: milliseconds until it goes on alone.

    Others (`notify`, `setStatus` ...) only tell something, and want no answer.
    """

    id: str
    method: str
    title: str | None = None
    message: str | None = None
    options: list[str] | None = None
    placeholder: str | None = None
    prefill: str | None = None
    timeout: int | float | None = None


def tree_of(value: Any) -> Tree:
    """The tree of a `get_tree` answer. Raises TypeError or KeyError for what is none. Never recurses."""
    nodes: list[TreeNode] = []
    work: list[tuple[Any, int | None, int]] = [(node, None, 0) for node in reversed(value["tree"])]
    while work:
        node, parent, depth = work.pop()
        entry, label, at = node["entry"], node.get("label"), node.get("labelTimestamp")
        if not isinstance(entry, dict):
            raise TypeError("expected an entry")
        place = len(nodes)
        nodes.append(TreeNode(entry=entry, depth=depth, parent=parent, label=label, label_timestamp=at))
        work.extend((child, place, depth + 1) for child in reversed(node.get("children") or []))
    return Tree(nodes=tuple(nodes), leaf_id=value.get("leafId"))
