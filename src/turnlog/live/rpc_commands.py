"""Every command of Pi's RPC mode as a method that says what it sends and what comes back.

Each raises RpcRefused where Pi says no, RpcTimeout, RpcDied when the process is over, RpcClosed after `aclose`, and
RpcProtocolError where the answer is none.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from . import rpc_records as records

T = TypeVar("T")

Behavior = Literal["steer", "followUp"]
QueueMode = Literal["all", "one-at-a-time"]
Images = Sequence[dict[str, str]]
"""Pictures beside a message: `{"type": "image", "data": BASE64, "mimeType": "image/png"}`."""


_MAYBE_CYCLE: Any = records.ModelCycle | None
_MAYBE_LEVEL: Any = records.ThinkingLevel | None


class Commands:
    """The commands, over one `call`."""

    @abstractmethod
    async def call(self, command: str, answer: type[T], /, *, patient: bool = False, **fields: Any) -> T:
        """Send one command and wait for its answer. Fields that are None are not sent. patient: it may take as long as
        it takes; else the client's timeout holds."""

    async def prompt(
        self, message: str, *, images: Images | None = None, streaming_behavior: Behavior | None = None
    ) -> records.Accepted:
        """Say something; returns when it is accepted, not when it is done (`wait_settled`). While a run is on, Pi
        refuses it unless streaming_behavior says how to queue it."""
        return await self.call(
            "prompt", records.Accepted, patient=True, message=message, images=images,
            streamingBehavior=streaming_behavior,
        )  # fmt: skip

    async def steer(self, message: str, *, images: Images | None = None) -> records.Accepted:
        """Queue a message that the running turn gets before its next model call."""
        return await self.call("steer", records.Accepted, message=message, images=images)

    async def follow_up(self, message: str, *, images: Images | None = None) -> records.Accepted:
        """Queue a message for when the run is done."""
        return await self.call("follow_up", records.Accepted, message=message, images=images)

    async def abort(self) -> None:
        """Stop the run; returns when it has settled."""
        await self.call("abort", object, patient=True)

    async def clear_queue(self) -> records.Queue:
        """Drop queued messages, and get their texts."""
        return await self.call("clear_queue", records.Queue)

    async def new_session(self, parent_session: str | os.PathLike[str] | None = None) -> records.Switched:
        """Begin a new session; parent_session: the path of the file it names as its parent."""
        parent = None if parent_session is None else os.fspath(parent_session)
        return await self.call("new_session", records.Switched, patient=True, parentSession=parent)

    async def get_state(self) -> records.State:
        """How the session stands."""
        return await self.call("get_state", records.State)

    async def get_messages(self) -> list[dict[str, Any]]:
        """What the model sees, as plain values."""
        return (await self.call("get_messages", records.Messages)).messages

    async def set_model(self, provider: str, model_id: str) -> records.Model:
        """Go on with that model."""
        return await self.call("set_model", records.Model, provider=provider, modelId=model_id)

    async def cycle_model(self) -> records.ModelCycle | None:
        """Go on with the next model; None where there is one only."""
        found: records.ModelCycle | None = await self.call("cycle_model", _MAYBE_CYCLE)
        return found

    async def get_available_models(self) -> list[records.Model]:
        """Models that can be used."""
        return (await self.call("get_available_models", records.Models)).models

    async def set_thinking_level(self, level: str) -> None:
        """Go on with that level. Pi takes the nearest that the model has, and does not say so."""
        await self.call("set_thinking_level", object, level=level)

    async def cycle_thinking_level(self) -> str | None:
        """Go on with the next level; None where the model has none."""
        found: records.ThinkingLevel | None = await self.call("cycle_thinking_level", _MAYBE_LEVEL)
        return None if found is None else found.level

    async def get_available_thinking_levels(self) -> list[str]:
        """Levels of the model in use."""
        return (await self.call("get_available_thinking_levels", records.ThinkingLevels)).levels

    async def set_steering_mode(self, mode: QueueMode) -> None:
        """How many queued `steer` messages are delivered at once."""
        await self.call("set_steering_mode", object, mode=mode)

    async def set_follow_up_mode(self, mode: QueueMode) -> None:
        """How many queued `follow_up` messages are delivered at once."""
        await self.call("set_follow_up_mode", object, mode=mode)

    async def compact(self, custom_instructions: str | None = None) -> records.Compacted:
        """Sum up older context; returns when that is done."""
        return await self.call("compact", records.Compacted, patient=True, customInstructions=custom_instructions)

    async def set_auto_compaction(self, enabled: bool) -> None:
        """Whether context is summed up when it is nearly full."""
        await self.call("set_auto_compaction", object, enabled=enabled)

    async def set_auto_retry(self, enabled: bool) -> None:
        """Whether failed model calls are tried again."""
        await self.call("set_auto_retry", object, enabled=enabled)

    async def abort_retry(self) -> None:
        """Do not try again."""
        await self.call("abort_retry", object)

    async def bash(self, command: str, *, exclude_from_context: bool | None = None) -> records.BashOutput:
        """Run a shell command and put its output into the conversation; returns when it has ended."""
        return await self.call(
            "bash", records.BashOutput, patient=True, command=command, excludeFromContext=exclude_from_context
        )

    async def abort_bash(self) -> None:
        """Stop the shell command."""
        await self.call("abort_bash", object)

    async def get_session_stats(self) -> records.SessionStats:
        """Pi's own sums."""
        return await self.call("get_session_stats", records.SessionStats)

    async def export_html(self, output_path: str | os.PathLike[str] | None = None) -> str:
        """Write the session as a page; returns its path."""
        path = None if output_path is None else os.fspath(output_path)
        return (await self.call("export_html", records.Exported, patient=True, outputPath=path)).path

    async def switch_session(self, session_path: str | os.PathLike[str]) -> records.Switched:
        """Go on with another session file. Pi makes a new one where there is none."""
        return await self.call("switch_session", records.Switched, patient=True, sessionPath=os.fspath(session_path))

    async def fork(self, entry_id: str) -> records.Switched:
        """Begin a new session that ends before that prompt; its text is in the answer."""
        return await self.call("fork", records.Switched, patient=True, entryId=entry_id)

    async def clone(self) -> records.Switched:
        """Go on in a copy of the session's branch."""
        return await self.call("clone", records.Switched, patient=True)

    async def get_fork_messages(self) -> list[records.ForkMessage]:
        """Prompts that can be forked at, of all branches."""
        return (await self.call("get_fork_messages", records.ForkMessages)).messages

    async def get_entries(self, since: str | None = None) -> records.Entries:
        """Entries in the order they were appended; with `since`, those after that id."""
        return await self.call("get_entries", records.Entries, since=since)

    async def get_tree(self) -> records.Tree:
        """The session's tree, laid flat."""
        return await self.call("get_tree", records.Tree)

    async def get_last_assistant_text(self) -> str | None:
        """The last text the model said, None where it has said none."""
        return (await self.call("get_last_assistant_text", records.Text)).text

    async def set_session_name(self, name: str) -> None:
        """Name the session."""
        await self.call("set_session_name", object, name=name)

    async def get_commands(self) -> list[records.SlashCommand]:
        """What a prompt can begin with, after a slash."""
        return (await self.call("get_commands", records.SlashCommands)).commands
