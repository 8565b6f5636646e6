"""A program that speaks as Pi's RPC mode does, and misbehaves where a prompt tells it to. Run, not imported."""

import json
import os
import signal
import subprocess
import sys
import time

OUT, ERR = 1, 2
STATE = {"sessionId": "s-1", "thinkingLevel": "off", "isStreaming": False, "messageCount": 2, "newer": {"than": "we"}}
MODEL = {"id": "m-1", "provider": "p", "name": "M", "cost": {"input": 3}, "contextWindow": 200000, "reasoning": True}
ENTRY = {"type": "message", "id": "e1", "parentId": None, "timestamp": "2026-01-01T00:00:00.000Z"}
ANSWERS = {
    "steer": {"disposition": "queued"},
    "follow_up": {"disposition": "queued"},
    "abort": None,
    "clear_queue": {"steering": ["a"], "followUp": ["b"]},
    "new_session": {"cancelled": False},
    "get_state": STATE,
    "get_messages": {"messages": [{"role": "user", "content": "hi"}]},
    "set_model": MODEL,
    "cycle_model": {"model": MODEL, "thinkingLevel": "high", "isScoped": False},
    "get_available_models": {"models": [MODEL]},
    "set_thinking_level": None,
    "cycle_thinking_level": {"level": "high"},
    "get_available_thinking_levels": {"levels": ["off", "high"]},
    "set_steering_mode": None,
    "set_follow_up_mode": None,
    "compact": {"summary": "s", "firstKeptEntryId": None, "tokensBefore": 10, "estimatedTokensAfter": 4, "details": {}},
    "set_auto_compaction": None,
    "set_auto_retry": None,
    "abort_retry": None,
    "bash": {"output": "1\n", "exitCode": 0, "cancelled": False, "truncated": False},
    "abort_bash": None,
    "get_session_stats": {"sessionId": "s-1", "tokens": {"input": 1, "total": 1}, "cost": 0.5, "contextUsage": None},
    "export_html": {"path": "page.html"},
    "switch_session": {"cancelled": False},
    "fork": {"text": "the prompt", "cancelled": False},
    "clone": {"cancelled": True},
    "get_fork_messages": {"messages": [{"entryId": "e1", "text": "hi"}]},
    "get_entries": {"entries": [ENTRY], "leafId": "e1"},
    "get_tree": {"tree": [{"entry": ENTRY, "children": [{"entry": {**ENTRY, "id": "e2"}, "children": [], "label": "l"}]}], "leafId": "e2"},
    "get_last_assistant_text": {"text": "four"},
    "set_session_name": None,
    "get_commands": {"commands": [{"name": "go", "source": "extension", "sourceInfo": {"path": "x"}}]},
}  # fmt: skip


def write(data, to=OUT):
    view = memoryview(data)
    while view:
        view = view[os.write(to, view) :]


def say(**record):
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    try:
        write(text.encode() + b"\n")
    except UnicodeEncodeError:  # lone surrogates are written as escapes
        write(json.dumps(record, separators=(",", ":")).encode() + b"\n")


def answer(command, data=None, **more):
    head = {"id": command["id"], "type": "response", "command": command["type"], "success": True}
    say(**head, **({} if data is None else {"data": data}), **more)


def message(role, text, **more):
    return {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1796078752928, **more}


def agent_says(text, stop="stop"):
    done = message("assistant", text, api="a", provider="p", model="m", stopReason=stop)
    begun = {**done, "content": [], "stopReason": "pending"}
    say(type="message_start", message=begun)
    event = {"contentIndex": 0}
    say(type="message_update", assistantMessageEvent={"type": "text_start", **event})
    for letter in text[:8]:
        say(type="message_update", assistantMessageEvent={"type": "text_delta", "delta": letter, **event})
    say(type="message_update", assistantMessageEvent={"type": "text_end", "content": text, **event})
    say(type="message_end", message=done)


def run(text, settle=True):
    say(type="agent_start")
    say(type="turn_start")
    for kind in ("message_start", "message_end"):
        say(type=kind, message=message("user", text))
    agent_says("echo " + text)
    say(type="agent_end", messages=[], willRetry=False)
    if settle:
        say(type="agent_settled", aborted=False)


def deep_tree(levels):
    node = '{"entry":{"type":"message","id":"e"},"children":['
    return '{"tree":[' + node * levels + "]}" * levels + '],"leafId":"x"}'


class Fake:
    """One conversation. `held`: commands that wait to be answered in another order."""

    def __init__(self):
        self.held = []
        self.dialogs = {}

    def prompt(self, command):
        word, _, rest = command["message"].partition(" ")
        act = getattr(self, "on_" + word, None)
        if act is not None:
            act(command, rest)
            return
        answer(command, {"disposition": "started"})
        run(command["message"])

    def on_handled(self, command, rest):
        answer(command, {"disposition": "handled"})

    def on_refuse(self, command, rest):
        say(id=command["id"], type="response", command="prompt", success=False, error="secret words")

    def on_late(self, command, rest):
        run("late")
        answer(command, {"disposition": "started"})

    def on_begin(self, command, rest):
        answer(command, {"disposition": "started"})
        run(rest, settle=False)

    def on_die(self, command, rest):
        write(b"last words\n", ERR)
        write(b'{"type":"agent_start"}\n{"type":"mess')
        os._exit(int(rest))

    def on_kill(self, command, rest):
        os.kill(os.getpid(), int(rest))

    def on_garbage(self, command, rest):
        write(b'not json\n\n[1,2]\nnull\n"x"\n\xff\xfe\n{"type":7}\n{"type":"response","success":false,"error":"x"}\n')
        say(type="response", id="nobody", command="prompt", success=True)
        answer(command, {"disposition": "handled"})
        answer(command, {"disposition": "handled"})  # a second time

    def on_flood(self, command, rest):
        answer(command, {"disposition": "started"})
        say(type="agent_start")
        piece = b'{"type":"queue_update","steering":["' + b"x" * 100_000 + b'"],"followUp":[]}\n'
        for _ in range(int(rest) * 10):
            write(piece)
            write(b"e" * 100_000, ERR)
        say(type="agent_settled", aborted=False)

    def on_surrogate(self, command, rest):
        write(
            b'{"id":"%b","type":"response","command":"prompt","success":true,"data":{"disposition":"handled","x":"\\ud83d"}}\n'
            % command["id"].encode()
        )

    def on_dialogs(self, command, rest):
        say(type="extension_ui_request", id="u0", method="notify", message="hello")
        say(type="extension_ui_request", id="u1", method="select", title="Pick", options=["a", "b"])
        say(type="extension_ui_request", id="u2", method="confirm", title="Sure?", message="really")
        say(type="extension_ui_request", id="u3", method="input", title="Value?", timeout=60000)
        say(type="extension_ui_request", id="u4", method="brand_new", title="?")
        self.dialogs = {"command": command, "answers": [], "want": {"u1", "u2", "u3", "u4"}}

    def on_slow_dialog(self, command, rest):
        say(type="extension_ui_request", id="u1", method="input", title="Value?", timeout=20)
        self.dialogs = {"command": command, "answers": [], "want": {"u1"}}

    def ui(self, record):
        told = self.dialogs
        told["want"].discard(record["id"])
        told["answers"].append(record)
        if not told["want"]:
            answer(told["command"], {"disposition": "handled"})
            say(type="entry_appended", entry={**ENTRY, "type": "custom", "customType": "told", "data": told["answers"]})

    def on_close_stdout(self, command, rest):
        os.close(OUT)
        time.sleep(600)

    def on_close_stdin(self, command, rest):
        answer(command, {"disposition": "handled"})
        os.close(0)
        time.sleep(600)

    def on_deaf(self, command, rest):
        answer(command, {"disposition": "handled"})
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)

    def on_grandchild(self, command, rest):
        """A process that holds every pipe open outlives us."""
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        answer(command, {"disposition": "handled"}, pid=child.pid)
        say(type="session_info_changed", name=str(child.pid))
        write(b"%d" % child.pid, ERR)
        os._exit(0)

    def take(self, command):
        kind = command["type"]
        if kind == "extension_ui_response":
            self.ui(command)
        elif kind == "prompt":
            self.prompt(command)
        elif kind == "hold":  # answered later, in the other order
            self.held.append(command)
            if len(self.held) == command["of"]:
                for one in reversed(self.held):
                    answer(one, {"number": one["number"]})
        elif kind == "never":
            pass
        elif kind == "echo":
            answer(command, {k: v for k, v in command.items() if k != "id"})
        elif kind == "huge":
            answer(command, {"text": "x" * command["size"]})
        elif kind == "odd":
            say(id=command["id"], type="response", command="odd", success="perhaps")
        elif kind == "get_tree" and os.environ.get("FAKE_DEEP"):
            head = f'{{"id":"{command["id"]}","type":"response","command":"get_tree","success":true,"data":'
            write((head + deep_tree(int(os.environ["FAKE_DEEP"])) + "}\n").encode())
        elif command.get("provider") == "nobody":
            say(id=command["id"], type="response", command=kind, success=False, error="Model not found: nobody/nothing")
        elif kind in ANSWERS:
            answer(command, ANSWERS[kind], sent={k: v for k, v in command.items() if k != "id"})
        else:
            say(id=command["id"], type="response", command=kind, success=False, error="Unknown command")


def main():
    fake = Fake()
    for line in sys.stdin.buffer:
        record = json.loads(line)
        if record is None:
            os._exit(1)  # as Pi does
        fake.take(record)
    write(b"bye\n", ERR)


main()
