"""The client of Pi's RPC mode, against programs that speak it and misbehave (fake_pi.py)."""

import asyncio
import inspect
import json
import os
import signal
import stat
import sys
import time
from pathlib import Path

import pytest

from turnlog.errors import InvalidOptionsError, LineFault
from turnlog.live import rpc_records as records
from turnlog.live.process import ProgramNotStarted
from turnlog.live.rpc import PiRpc
from turnlog.live.rpc_commands import Commands
from turnlog.live.rpc_errors import RpcClosed, RpcDied, RpcError, RpcProtocolError, RpcRefused, RpcTimeout
from turnlog.live.rpc_lines import Lines, line_of
from turnlog.stream import Delta, Run

FAKE = [sys.executable, str(Path(__file__).with_name("fake_pi.py"))]
SECONDS = 60

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake program uses signals and descriptors")


def done(talk):
    """Run a coroutine, with a time to be done in."""

    async def bounded():
        async with asyncio.timeout(SECONDS):
            return await talk

    return asyncio.run(bounded())


async def until_settled(events):
    """Events up to the one that settles the run."""
    found = []
    async for event in events:
        found.append(event)
        if isinstance(event, Run) and event.state == "settled":
            break
    return found


def gone(pid):
    """Whether that process has ended (a zombie has)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


# Commands and their answers

CALLS = [
    ("prompt", ("hi",), {"message": "hi"}),
    ("steer", ("x",), {"message": "x"}),
    ("follow_up", ("x",), {"message": "x"}),
    ("abort", (), {}),
    ("clear_queue", (), {}),
    ("new_session", ("p.jsonl",), {"parentSession": "p.jsonl"}),
    ("new_session", (), {}),
    ("get_state", (), {}),
    ("get_messages", (), {}),
    ("set_model", ("p", "m"), {"provider": "p", "modelId": "m"}),
    ("cycle_model", (), {}),
    ("get_available_models", (), {}),
    ("set_thinking_level", ("high",), {"level": "high"}),
    ("cycle_thinking_level", (), {}),
    ("get_available_thinking_levels", (), {}),
    ("set_steering_mode", ("all",), {"mode": "all"}),
    ("set_follow_up_mode", ("one-at-a-time",), {"mode": "one-at-a-time"}),
    ("compact", ("words",), {"customInstructions": "words"}),
    ("set_auto_compaction", (False,), {"enabled": False}),
    ("set_auto_retry", (True,), {"enabled": True}),
    ("abort_retry", (), {}),
    ("bash", ("ls",), {"command": "ls"}),
    ("abort_bash", (), {}),
    ("get_session_stats", (), {}),
    ("export_html", ("page.html",), {"outputPath": "page.html"}),
    ("switch_session", ("s.jsonl",), {"sessionPath": "s.jsonl"}),
    ("fork", ("e1",), {"entryId": "e1"}),
    ("clone", (), {}),
    ("get_fork_messages", (), {}),
    ("get_entries", ("e0",), {"since": "e0"}),
    ("get_tree", (), {}),
    ("get_last_assistant_text", (), {}),
    ("set_session_name", ("n",), {"name": "n"}),
    ("get_commands", (), {}),
]


def test_every_command_of_the_protocol_has_a_method_and_is_tried_here():
    methods = {name for name, member in vars(Commands).items() if inspect.iscoroutinefunction(member)} - {"call"}

    assert methods == {name for name, _, _ in CALLS}


@pytest.mark.parametrize("name, args, fields", CALLS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_method_sends_its_command_with_no_field_that_was_not_given(name, args, fields):
    sent = []

    class Heard(Commands):
        async def call(self, command, answer, /, *, patient=False, **more):
            sent.append((command, {key: value for key, value in more.items() if value is not None}))
            raise RpcClosed("heard")

    with pytest.raises(RpcClosed):
        asyncio.run(getattr(Heard(), name)(*args))

    assert sent == [(name, fields)]


def test_answers_come_back_typed():
    async def talk():
        async with PiRpc(FAKE) as pi:
            state = await pi.get_state()
            assert (state.session_id, state.message_count, state.is_streaming) == ("s-1", 2, False)
            assert state.session_name is None
            assert (await pi.set_model("p", "m-1")).context_window == 200000
            cycle = await pi.cycle_model()
            assert (cycle.model.id, cycle.is_scoped) == ("m-1", False)
            assert await pi.cycle_thinking_level() == "high"
            assert await pi.get_available_thinking_levels() == ["off", "high"]
            assert [model.id for model in await pi.get_available_models()] == ["m-1"]
            assert (await pi.compact()).first_kept_entry_id is None
            assert (await pi.bash("ls")).exit_code == 0
            stats = await pi.get_session_stats()
            assert (stats.tokens.input, stats.tokens.output, stats.cost) == (1, None, 0.5)
            assert await pi.export_html() == "page.html"
            assert (await pi.fork("e1")).text == "the prompt"
            assert (await pi.clone()).cancelled is True
            assert (await pi.get_fork_messages())[0].entry_id == "e1"
            entries = await pi.get_entries()
            assert ([entry["id"] for entry in entries.entries], entries.leaf_id) == (["e1"], "e1")
            assert await pi.get_last_assistant_text() == "four"
            assert [command.name for command in await pi.get_commands()] == ["go"]
            assert (await pi.clear_queue()).follow_up == ["b"]
            assert await pi.abort() is None
            assert await pi.get_messages() == [{"role": "user", "content": "hi"}]

    done(talk())


def test_a_tree_is_laid_flat_however_deep_it_is(monkeypatch):
    monkeypatch.setenv("FAKE_DEEP", "20000")

    async def talk():
        async with PiRpc(FAKE) as pi:
            return await pi.get_tree()

    tree = done(talk())

    assert len(tree.nodes) == 20000
    assert (tree.nodes[-1].depth, tree.nodes[-1].parent) == (19999, 19998)


def test_a_tree_keeps_its_order_and_labels():
    async def talk():
        async with PiRpc(FAKE) as pi:
            return await pi.get_tree()

    tree = done(talk())

    assert [(node.entry["id"], node.depth, node.parent, node.label) for node in tree.nodes] == [
        ("e1", 0, None, None),
        ("e2", 1, 0, "l"),
    ]


def test_answers_find_who_asked_whatever_their_order():
    async def talk():
        async with PiRpc(FAKE) as pi:
            calls = [pi.call("hold", dict, of=20, number=number) for number in range(20)]
            return await asyncio.gather(*calls)

    assert done(talk()) == [{"number": number} for number in range(20)]


def test_a_refusal_keeps_the_words_of_pi_out_of_the_message():
    async def talk():
        async with PiRpc(FAKE) as pi:
            with pytest.raises(RpcRefused) as caught:
                await pi.prompt("refuse")
            with pytest.raises(RpcRefused):
                await pi.call("frobnicate", object)
            assert await pi.wait_settled() is None
            return caught.value

    error = done(talk())

    assert (error.command, error.said) == ("prompt", "secret words")
    assert "secret" not in str(error)


def test_an_answer_of_another_shape_is_a_protocol_error_that_tells_no_value():
    async def talk():
        async with PiRpc(FAKE) as pi:
            with pytest.raises(RpcProtocolError) as caught:
                await pi.call("echo", records.State, sessionId=7, other="secret")
            with pytest.raises(RpcProtocolError):
                await pi.call("odd", object)
            with pytest.raises(RpcProtocolError):
                await pi.call("get_state", records.Tree)
            return str(caught.value)

    said = done(talk())

    assert "$.sessionId" in said
    assert "secret" not in said


def test_a_lone_surrogate_goes_both_ways():
    async def talk():
        async with PiRpc(FAKE) as pi:
            assert (await pi.prompt("surrogate")).disposition == "handled"
            return await pi.call("echo", dict, word="\ud83d and \u2028 and é")

    assert done(talk())["word"] == "\ud83d and \u2028 and é"


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, object()], ids=["nan", "set", "object"])
def test_what_json_cannot_hold_is_the_callers_mistake(value):
    async def talk():
        async with PiRpc(FAKE) as pi:
            with pytest.raises(InvalidOptionsError):
                await pi.call("echo", object, word=value)
            with pytest.raises(InvalidOptionsError):
                await pi.call("echo", object, id="mine")
            assert (await pi.get_state()).session_id == "s-1"

    done(talk())


def test_a_line_is_one_ascii_line_and_never_null():
    line = line_of({"type": "prompt", "message": "a\nb\u2028c\x85d\r"})

    assert line.count(b"\n") == 1
    assert line.isascii()
    assert json.loads(line)["message"] == "a\nb\u2028c\x85d\r"
    assert line.startswith(b"{")


# Lines that are none


def test_garbage_between_answers_is_passed_over_and_counted():
    async def talk():
        async with PiRpc(FAKE) as pi:
            assert (await pi.prompt("garbage")).disposition == "handled"
            assert (await pi.get_state()).session_id == "s-1"
            return pi.unreadable, pi.unmatched

    # not json, [1,2], null, "x", bad bytes; an answer without id, one of nobody's, and a second one
    assert done(talk()) == (5, 3)


def test_a_huge_answer_within_the_limit_arrives_and_one_over_it_fails_only_its_caller():
    async def talk():
        async with PiRpc(FAKE, max_record_bytes=1_000_000) as pi:
            size = 900_000
            assert len((await pi.call("huge", records.Text, size=size)).text) == size
            with pytest.raises(RpcProtocolError, match="within the limit"):
                await pi.call("huge", records.Text, size=5_000_000)
            assert (await pi.get_state()).session_id == "s-1"

    done(talk())


@pytest.mark.parametrize("step", [1, 7, 100, 10_000])
def test_lines_are_the_same_however_they_are_cut(step):
    data = (
        b'{"id":"t-1","type":"response","success":true,"data":[1]}\r\n\n{"type":"agent_start"}\nno\n'
        b'{"id":"t-2","type":"response","success":true,"data":"' + b"x" * 500 + b'"}\n{"type":"x","id":"t-3"}\n'
    )
    lines, found = Lines(400), []
    for at in range(0, len(data), step):
        found += [head for head, _ in lines.feed(data[at : at + step])]

    assert [(type(head).__name__, head.id) for head in found] == [
        ("Head", "t-1"),
        ("Head", None),
        ("Unread", None),
        ("Unread", "t-2"),
        ("Head", "t-3"),
    ]
    assert lines.unreadable == 2
    assert found[3].said.startswith("expected an answer within the limit")
    assert lines.held == 0


# Runs


def test_waiting_for_a_run_works_before_and_after_it_has_settled():
    async def talk():
        async with PiRpc(FAKE) as pi:
            assert await pi.wait_settled() is None
            await pi.prompt("one")
            assert (await pi.wait_settled()).aborted is False
            assert (await pi.wait_settled()).aborted is False
            events = pi.events()
            await pi.prompt("two")
            await until_settled(events)
            assert (await pi.wait_settled()).aborted is False

    done(talk())


def test_a_prompt_on_its_way_is_waited_for():
    async def talk():
        async with PiRpc(FAKE) as pi:
            prompting = asyncio.create_task(pi.prompt("one"))
            await asyncio.sleep(0)
            settled = await pi.wait_settled()
            assert (await prompting).disposition == "started"
            return settled

    assert done(talk()).aborted is False


def test_a_prompt_whose_caller_went_away_is_still_waited_for():
    async def talk():
        async with PiRpc(FAKE) as pi:
            prompting = asyncio.create_task(pi.prompt("one"))
            await asyncio.sleep(0)
            prompting.cancel()
            settled = await pi.wait_settled()
            assert pi.unmatched == 1
            return settled

    assert done(talk()).aborted is False


def test_a_handled_prompt_starts_no_run():
    async def talk():
        async with PiRpc(FAKE) as pi:
            assert (await pi.prompt("handled")).disposition == "handled"
            return await pi.wait_settled(), [event async for event in pi.ask("handled")]

    assert done(talk()) == (None, [])


def test_an_answer_that_comes_after_the_run_has_settled_hangs_nobody():
    async def talk():
        async with PiRpc(FAKE) as pi:
            await pi.prompt("late")
            return await pi.wait_settled()

    assert done(talk()).aborted is False


def test_a_run_that_goes_on_is_waited_for_until_it_settles_or_the_caller_has_enough():
    async def talk():
        async with PiRpc(FAKE) as pi:
            await pi.prompt("begin long")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await pi.wait_settled()
            waiting = asyncio.create_task(pi.wait_settled())
            await pi.steer("more")
            assert not waiting.done()
            await pi.prompt("next")
            return await waiting

    assert done(talk()).aborted is False


def test_asking_gives_every_event_of_the_run_and_ends_with_it():
    async def talk():
        async with PiRpc(FAKE) as pi:
            first = [event async for event in pi.ask("say this")]
            second = [event async for event in pi.ask("say this")]
            return first, second

    first, second = done(talk())

    assert [event.kind for event in first] == [event.kind for event in second]
    assert first[-1].state == "settled"
    assert any(isinstance(event, Delta) for event in first)
    assert [event.text for event in first if event.kind == "message"] == ["say this", "echo say this"]


# Time, cancelling, and the end


def test_no_answer_in_time_is_an_error_and_the_client_goes_on():
    async def talk():
        async with PiRpc(FAKE, timeout=0.05) as pi:
            with pytest.raises(RpcTimeout) as caught:
                await pi.call("never", object)
            assert isinstance(caught.value, TimeoutError)
            assert (await pi.call("get_state", records.State, patient=True)).session_id == "s-1"
            with pytest.raises(TimeoutError) as other:
                async with asyncio.timeout(0.05):
                    await pi.call("never", object, patient=True)
            assert not isinstance(other.value, RpcTimeout)

    done(talk())


def test_a_cancelled_call_leaves_nothing_behind():
    async def talk():
        async with PiRpc(FAKE) as pi:
            calls = [asyncio.create_task(pi.call("never", object)) for _ in range(10)]
            await pi.get_state()
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            assert pi._asked == {}
            assert (await pi.get_state()).session_id == "s-1"

    done(talk())


def test_death_tells_everybody_who_waits_at_once():
    async def talk():
        async with PiRpc(FAKE) as pi:
            events = pi.events()
            await pi.prompt("begin it")
            waiting = [asyncio.create_task(pi.call("never", object)) for _ in range(3)]
            waiting.append(asyncio.create_task(pi.wait_settled()))
            waiting.append(asyncio.create_task(pi.prompt("die 7")))
            found = await asyncio.gather(*waiting, return_exceptions=True)
            with pytest.raises(RpcDied):
                await pi.get_state()
            with pytest.raises(RpcDied):
                async for _ in events:
                    pass
            return found, pi.exit_code

    found, code = done(talk())

    assert [(type(error), error.exit_code) for error in found] == [(RpcDied, 7)] * 5
    assert all(error.stderr == b"last words\n" and "last words" not in str(error) for error in found)
    assert code == 7


def test_a_signal_that_ends_it_is_told():
    async def talk():
        async with PiRpc(FAKE) as pi:
            with pytest.raises(RpcDied, match="signal 9") as caught:
                await pi.prompt("kill 9")
            return caught.value.exit_code

    assert done(talk()) == -signal.SIGKILL


def test_a_process_it_left_behind_delays_the_news_of_its_death_not_at_all():
    async def talk():
        async with PiRpc(FAKE) as pi:
            waiting = asyncio.create_task(pi.call("never", object))
            await pi.prompt("grandchild")
            with pytest.raises(RpcDied) as caught:
                await waiting
            return caught.value

    error = done(talk())

    try:
        assert error.exit_code == 0
        assert not gone(int(error.stderr))
    finally:
        os.kill(int(error.stderr), signal.SIGKILL)


@pytest.mark.parametrize("word", ["close_stdout", "close_stdin"])
def test_a_process_that_goes_on_but_no_longer_speaks_or_listens_fails_who_waits(word):
    async def talk():
        pi = await PiRpc(FAKE).start()
        if word == "close_stdin":
            await pi.prompt(word)
        with pytest.raises(RpcDied, match="goes on") as caught:
            await (pi.prompt(word) if word == "close_stdout" else pi.call("never", object))
        await pi.aclose(grace=0.1)
        return caught.value.exit_code

    assert done(talk()) is None


def test_a_process_that_does_not_read_is_killed_in_the_end():
    async def talk():
        pi = await PiRpc(FAKE).start()
        await pi.prompt("deaf")
        calls = [asyncio.create_task(pi.call("echo", object, word="x" * 100_000)) for _ in range(20)]
        await asyncio.sleep(0)
        await pi.aclose(grace=0.1)
        found = await asyncio.gather(*calls, return_exceptions=True)
        return found, pi.exit_code, pi.pid

    found, code, pid = done(talk())

    assert {type(error) for error in found} == {RpcClosed}
    assert code == -signal.SIGKILL
    assert gone(pid)


def test_closing_ends_the_process_by_its_own_will_and_twice_is_once():
    async def talk():
        pi = PiRpc(FAKE)
        async with pi:
            events = pi.events()
            await pi.prompt("one")
        await pi.aclose()
        with pytest.raises(RpcClosed):
            await pi.get_state()
        with pytest.raises(RpcClosed):
            await pi.wait_settled()
        with pytest.raises(InvalidOptionsError):
            await pi.start()
        assert [event async for event in events] == []
        return pi.exit_code, pi.stderr

    assert done(talk()) == (0, b"bye\n")


def test_closing_while_cancelled_still_ends_the_process():
    async def talk():
        async def work():
            async with PiRpc(FAKE) as pi:
                begun.set_result(pi.pid)
                await pi.prompt("deaf")
                await pi.call("never", object)

        begun = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(work())
        pid = await begun
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    assert gone(done(talk()))


def test_a_client_that_was_not_started_says_so():
    async def talk():
        with pytest.raises(RpcClosed):
            await PiRpc(FAKE).get_state()
        with pytest.raises(ProgramNotStarted):
            await PiRpc(["no-such-program-here"]).start()
        await PiRpc(FAKE).aclose()

    done(talk())


# Events and the flood


def test_nobody_reading_events_never_holds_the_process_up():
    async def talk():
        async with PiRpc(FAKE) as pi:
            unread = pi.events()
            await pi.prompt("flood 20")  # 20 MB on stdout and on stderr
            await pi.wait_settled()
            return [event.kind for event in await until_settled(unread)].count("queue")

    assert done(talk()) == 200


def test_a_blocked_loop_never_holds_the_process_up():
    async def talk():
        async with PiRpc(FAKE) as pi:
            process = pi._process
            await pi.prompt("flood 20")
            until = time.monotonic() + SECONDS
            while process.stdout.written < 20_000_000 and time.monotonic() < until:
                time.sleep(0.01)  # noqa: ASYNC251  the loop is blocked on purpose
            assert process.stdout.written > 20_000_000
            return await pi.wait_settled()

    assert done(talk()).aborted is False


def test_each_reader_of_events_has_all_of_them():
    async def read(events):
        return [event.kind for event in await until_settled(events)]

    async def talk():
        async with PiRpc(FAKE) as pi:
            readers = [asyncio.create_task(read(pi.events())) for _ in range(3)]
            await asyncio.sleep(0)
            await pi.prompt("one")
            return await asyncio.gather(*readers)

    first, *others = done(talk())

    assert len(first) > 10
    assert others == [first, first]


def test_a_bad_line_is_a_fault_among_the_events_and_answers_are_none():
    async def talk():
        async with PiRpc(FAKE) as pi:
            events = pi.events()
            await pi.prompt("garbage")
            await pi.prompt("one")
            return await until_settled(events)

    found = done(talk())

    assert any(isinstance(event, LineFault) for event in found)
    assert not any(event.kind == "reply" for event in found)


def test_a_reader_that_left_gets_nothing_more():
    async def talk():
        async with PiRpc(FAKE) as pi:
            events = pi.events()
            await pi.prompt("one")
            await events.aclose()
            return [event async for event in events]

    assert done(talk()) == []


# Extensions that ask


def dialogs(on_ui):
    async def talk():
        async with PiRpc(FAKE, on_ui=on_ui) as pi:
            events = pi.events()
            await pi.prompt("dialogs")
            async for event in events:
                if event.kind == "custom":
                    return {answer["id"]: answer for answer in event.data}
            return None

    found = done(talk())
    assert all(answer["type"] == "extension_ui_response" for answer in found.values())
    return {key: {k: v for k, v in answer.items() if k not in {"id", "type"}} for key, answer in sorted(found.items())}


CANCELLED = {"cancelled": True}


def test_dialogs_are_cancelled_where_nobody_answers_them():
    assert dialogs(None) == dict.fromkeys(["u1", "u2", "u3", "u4"], CANCELLED)


def test_dialogs_are_answered_and_messages_are_not():
    asked = []

    async def answer(request):
        asked.append((request.method, request.options, request.message))
        await asyncio.sleep(0)
        return {"select": "b", "confirm": False, "input": "typed"}.get(request.method)

    assert dialogs(answer) == {
        "u1": {"value": "b"},
        "u2": {"confirmed": False},
        "u3": {"value": "typed"},
        "u4": CANCELLED,
    }
    assert asked[:2] == [("select", ["a", "b"], None), ("confirm", None, "really")]


def test_a_callback_that_fails_or_answers_nonsense_cancels_and_is_reported():
    reported = []

    def answer(request):
        if request.method == "confirm":
            return "yes"
        raise ValueError(request.method)

    async def talk():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
        async with PiRpc(FAKE, on_ui=answer) as pi:
            await pi.prompt("dialogs")

    done(talk())

    assert sorted(type(error).__name__ for error in reported) == ["TypeError", "ValueError", "ValueError", "ValueError"]


def test_a_callback_that_is_slower_than_the_dialog_waits_is_stopped():
    ended = []

    async def answer(_):
        try:
            await asyncio.sleep(SECONDS * 2)
        finally:
            ended.append(True)

    async def talk():
        async with PiRpc(FAKE, on_ui=answer) as pi:
            assert (await pi.prompt("slow_dialog")).disposition == "handled"

    done(talk())

    assert ended == [True]


# What is kept


def test_the_log_has_the_exact_bytes_and_is_the_owners_alone(tmp_path):
    log, err = tmp_path / "out.jsonl", tmp_path / "err"

    async def talk():
        async with PiRpc(FAKE, log=log, stderr_log=err) as pi:
            await pi.prompt("garbage")
            await pi.prompt("one")
            await pi.wait_settled()

    done(talk())

    data = log.read_bytes()
    assert b"\xff\xfe\n" in data
    assert data.endswith(b'"agent_settled","aborted":false}\n')
    assert err.read_bytes() == b"bye\n"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (log, err)} == {0o600}


def test_every_error_of_the_client_is_one_of_ours():
    for error in (
        RpcRefused("x", "y"),
        RpcTimeout("x", 1),
        RpcProtocolError("x", "y"),
        RpcClosed("x"),
        RpcDied("x", 1, b""),
    ):
        assert isinstance(error, RpcError)
