"""What turnlog's own client of Pi's RPC mode does in the scenarios that it leads, and what it was told on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import turnlog
from driver import WAIT, Pi, Ran
from turnlog.stream import Delta, ToolRun


@dataclass
class Heard:
    """What the client was told. events: all that came, in order. answers: what its methods returned, by their names."""

    events: list[turnlog.Item] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)


Seen = Callable[[Any], bool]
Until = Callable[[Seen], Awaitable[None]]
Lead = Callable[[turnlog.PiRpc, Heard, Until], Awaitable[None]]


def led(lead: Lead) -> Callable[[Pi], Ran]:
    """A scenario's run: Pi started by our client and led by `lead(client, heard, until)`. `until(seen)` waits for the first
    event of which that holds."""
    return lambda pi: asyncio.run(_led(pi, lead))


async def _led(pi: Pi, lead: Lead) -> Ran:
    heard = Heard()
    log = pi.home / "rpc.log"
    client = await turnlog.PiRpc(pi.command("--mode", "rpc"), cwd=pi.desk, env=pi.env, log=log).start()
    news = asyncio.Condition()

    async def listen(events: AsyncIterator[turnlog.Item]) -> None:
        async for event in events:
            async with news:
                heard.events.append(event)
                news.notify_all()

    async def until(seen: Seen) -> None:
        async with news:
            await news.wait_for(lambda: any(map(seen, heard.events)))

    listening = asyncio.create_task(listen(client.events()))
    try:
        async with asyncio.timeout(WAIT):
            await lead(client, heard, until)
            await _asked(client, heard)
    finally:
        await client.aclose()
    await listening  # it ends because the client was closed
    assert client.exit_code is not None
    assert client.unmatched == client.unreadable == 0
    return Ran(pi.home, log.read_bytes(), client.stderr, client.exit_code, heard)


async def _asked(client: turnlog.PiRpc, heard: Heard) -> None:
    """What every run asks at its end."""
    heard.answers["stats"] = await client.get_session_stats()
    heard.answers["entries"] = await client.get_entries()
    heard.answers["tree"] = await client.get_tree()
    heard.answers["text"] = await client.get_last_assistant_text()
    heard.answers["state"] = await client.get_state()


async def steer(client: turnlog.PiRpc, _: Heard, until: Until) -> None:
    await client.prompt("Start slowly.")
    await until(lambda event: isinstance(event, ToolRun))
    await client.steer("Turn left.")
    await client.follow_up("And then?")
    await client.wait_settled()


async def stop(client: turnlog.PiRpc, heard: Heard, until: Until) -> None:
    await client.prompt("Begin, and be stopped.")
    await until(lambda event: isinstance(event, Delta) and event.state == "grows")
    await client.abort()
    heard.answers["settled"] = await client.wait_settled()


async def lead(client: turnlog.PiRpc, heard: Heard, _: Until) -> None:
    await client.prompt("First.")
    await client.wait_settled()
    heard.answers["bash"] = await client.bash("echo seen")
    await client.set_session_name("Led")
    heard.answers["model"] = await client.set_model("scripted-openai", "large")
    await client.set_thinking_level("low")
    await client.prompt("Second.")
    await client.wait_settled()
    heard.answers["prompts"] = await client.get_fork_messages()
    try:
        await client.fork("no such entry")
    except turnlog.RpcRefused as refused:
        heard.answers["refused"] = refused.command
    heard.answers["fork"] = await client.fork(heard.answers["prompts"][1].entry_id)
    await client.prompt("Second, otherwise.")
    heard.answers["settled"] = await client.wait_settled()
