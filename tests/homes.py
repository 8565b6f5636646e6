"""Session files made in tests, line by line, and what all of them together say: for the rules of identity.

Every builder's methods give the builder, so that a file is written in one expression.
"""

import json
from collections import Counter

from reading import parse
from turnlog.formats import FORMATS, place_of
from turnlog.ledger.identity import merge
from turnlog.ledger.scan import reconcile
from turnlog.work import spot

BASE = 1_796_000_000_000  # milliseconds
_COUNTS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")


def v7(milliseconds, n=0):
    """A UUIDv7 made so many milliseconds after BASE."""
    text = f"{BASE + milliseconds:012x}"
    return f"{text[:8]}-{text[8:]}-7{n:03x}-8000-{n:012x}"


def v4(n):
    return f"{n:08x}-0000-4000-8000-{n:012x}"


class Made:
    """A file under way: `path`, and `lines` as JSON values."""

    agent = ""
    path = ""
    lines: list

    @property
    def data(self):
        return b"".join(json.dumps(line).encode() + b"\n" for line in self.lines)

    def work(self, data=None):
        """The work of the file, or of those bytes of it."""
        where = place_of(self.path)
        items = parse(
            self.agent, self.data if data is None else data, place=where, codex_usage="all", tail="allow-incomplete"
        ).items
        return FORMATS[self.agent].fold(where, items)


def ledger(*files):
    """The ledger of files, or of the work of files."""
    return merge([file.work() if isinstance(file, Made) else file for file in files], reconcile)


def tokens(found):
    return sum(counted.sample.counts.total for counted in found.samples)


def by_session(found):
    spent = Counter()
    for counted in found.samples:
        spent[counted.sample.session] += counted.sample.counts.total
    return dict(spent)


def reasons(found):
    return [left.reason for _, left in found.left]


def marks(found):
    return {what: len(each) for what, each in found.marks.items()}


def left_for(found):
    """(path, line) of every sample that does not count, to its reason and the (path, line) of what stands for it."""
    return {(path, left.sample.line): (left.reason, left.instead and left.instead[:2]) for path, left in found.left}


def counts_somewhere(found):
    """Whatever stands for a sample counts itself."""
    counted = {spot(each.path, each.sample) for each in found.samples}
    return all(left.instead is None or left.instead in counted for _, left in found.left)


def iso(ms):
    """The time so many milliseconds after 10:00 of 2026-11-30."""
    return f"2026-11-30T{10 + ms // 3_600_000:02d}:{ms // 60_000 % 60:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}Z"


class ClaudeFile(Made):
    """A transcript under way. Times are milliseconds after 10:00 of 2026-11-30; each line is a second later."""

    agent = "claude"

    def __init__(self, session, name=None, version="2.1.332", subagent=None, at=0, cwd="/p"):
        self.session = session
        self.version = version
        self.cwd = cwd
        self.at = at
        self.lines = []
        self.sidechain = subagent is not None
        folder = f"{session}/subagents/agent-{subagent}" if subagent else name or session
        self.path = f"/home/.claude/projects/p/{folder}.jsonl"

    def add(self, kind, uuid=None, **more):
        about = {"sessionId": self.session, "version": self.version, "cwd": self.cwd, "isSidechain": self.sidechain}
        made = uuid or f"u{len(self.lines)}-{self.path}"
        self.lines.append({"type": kind, "uuid": made, "timestamp": iso(self.at), **about, **more})
        self.at += 1000
        return self

    def typed(self, text, **more):
        return self.add("user", message={"role": "user", "content": text}, **more)

    def answer(self, answer, usage, *, model="claude-x", request="r", blocks=1, **more):
        """One line of an answer. usage: input, output, cache read, cache write; or a whole usage."""
        if isinstance(usage, tuple):
            names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            usage = dict(zip(names, usage, strict=False))
        content = [{"type": "text", "text": "x"}] * blocks
        message = {"role": "assistant", "model": model, "content": content, "usage": usage}
        if answer is not None:
            message["id"] = answer
        if request is not None:
            more["requestId"] = request
        return self.add("assistant", message=message, **more)

    def copied(self, lines, **changed):
        """Lines of another file, with some fields changed (None: taken away)."""
        for line in lines:
            copy = {**line, **changed}
            self.lines.append({name: value for name, value in copy.items() if value is not None})
        return self


class PiFile(Made):
    """A session of Pi under way. Entry ids are given; times are milliseconds after 10:00 of 2026-11-30."""

    agent = "pi"

    def __init__(self, session, *, version=3, at=0, **more):
        self.session = session
        self.at = at
        self.path = f"/home/.pi/agent/sessions/--p--/{session}.jsonl"
        header = {"type": "session", "version": version, "id": session, "timestamp": iso(at), "cwd": "/p", **more}
        if version is None:
            del header["version"]
        self.lines = [header]
        self.leaf = None

    def add(self, entry, type_, /, *, parent=..., **more):
        self.at += 1000
        above = self.leaf if parent is ... else parent
        self.lines.append({"type": type_, "id": entry, "parentId": above, "timestamp": iso(self.at), **more})
        self.leaf = entry
        return self

    def typed(self, entry, text="x", **more):
        return self.add(entry, "message", message={"role": "user", "content": text}, **more)

    def answer(self, entry, usage, *, model="m", stop="stop", **more):
        message = {"role": "assistant", "content": [], "provider": "p", "model": model, "stopReason": stop}
        return self.add(entry, "message", message={**message, "usage": pi_usage(*usage)}, **more)

    def copied(self, lines):
        self.lines += lines
        self.leaf = lines[-1].get("id")
        return self


def pi_usage(fresh, out=0, read=0, write=0):
    return {"input": fresh, "output": out, "cacheRead": read, "cacheWrite": write}


class SwinkFile(Made):
    """A session of swink-agent under way. Times are seconds after 1970."""

    agent = "swink"

    def __init__(self, session, folder="sessions"):
        self.path = f"/home/.config/swink-agent/{folder}/{session}.jsonl"
        time = "2026-11-30T10:00:00Z"
        self.about = {"id": session, "title": "t", "created_at": time, "updated_at": time}
        self.lines = [self.about]
        self.at = 1_796_032_800

    def answer(self, usage, *, model="m", at=None):
        self.at += 1
        counts = {"input": usage[0], "output": usage[1], "cache_read": 0, "cache_write": 0, "total": sum(usage)}
        said = {"role": "assistant", "content": [], "provider": "p" if model else "", "model_id": model}
        cost = dict.fromkeys(counts, 0)
        ended = {"usage": counts, "cost": cost, "stop_reason": "stop", "timestamp": self.at if at is None else at}
        self.lines.append({**said, **ended})
        return self

    def begin(self):
        self.lines.append({"_append": True, "phase": "begin"})
        return self

    def commit(self):
        self.lines.append({"_meta": True, "data": self.about})
        return self


class CodexFile(Made):
    """A rollout under way. Times are milliseconds after 10:00 of 2026-11-30."""

    agent = "codex"

    def __init__(self, thread, version="0.130.0", folder="sessions", suffix=".jsonl", segment=None, created=0, **meta):
        self.thread = thread
        stem = f"rollout-2026-11-30T10-00-00-{thread}" + (f"_{segment}" if segment else "")
        self.path = f"/home/.codex/{folder}/{stem}{suffix}"
        self.lines = []
        self.at = created
        about = {"id": thread, "timestamp": self.time(created), "cwd": "/p", "cli_version": version, "source": "cli"}
        self.add("session_meta", {**about, **meta}, 0)

    @staticmethod
    def time(ms):
        return f"2026-11-30T10:{ms // 60000:02d}:{ms // 1000 % 60:02d}.{ms % 1000:03d}Z"

    def add(self, kind, payload, after=1000, at=None):
        self.at = self.at + after if at is None else at
        self.lines.append({"timestamp": self.time(self.at), "type": kind, "payload": payload})
        return self

    def event(self, kind, after=1000, **payload):
        return self.add("event_msg", {"type": kind, **payload}, after)

    def turn(self, turn, after=1000, model="m"):
        self.event("task_started", after, turn_id=turn)
        return self.add("turn_context", {"turn_id": turn, "model": model, "cwd": "/p"}, 0)

    def count(self, total, last, after=1000):
        info = {"total_token_usage": dict(zip(_COUNTS, total, strict=False))}
        if last is not None:
            info["last_token_usage"] = dict(zip(_COUNTS, last, strict=False))
        return self.event("token_count", after, info=info)

    def record(self, turn, response, usage, thread=None):
        about = {"thread_id": thread or self.thread, "turn_id": turn, "response_id": response}
        return self.add("token_usage_record", {**about, "usage": dict(zip(_COUNTS, usage, strict=False))})

    def said(self, role, text, after=0, kinds=None, **more):
        payload = {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}], **more}
        if kinds:
            payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
        return self.add("response_item", payload, after)

    def typed(self, text, after=0):
        self.said("user", text, after)
        return self.event("user_message", 0, message=text)

    def copied(self, lines, at):
        self.at = at
        self.lines += [{**line, "timestamp": self.time(at)} for line in lines]
        return self
