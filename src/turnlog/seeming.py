"""Is this file JSON Lines at all? Decided by its first bytes alone.

A UTF-16 export, a pretty-printed document or a picture would give a fault for every line. While no whole object has been
read, faults are held back; if none comes within the first 64 lines, or the file ends and looks like something else,
there is one sentence that says what it seems to be.
"""

from __future__ import annotations

from .framing import Framed, Oversize
from .model import Item

LINES = 64
BYTES = 64 * 1024


class Doubt:
    """Whether this is JSON Lines, until the first whole object is seen. `held`: what the lines said meanwhile."""

    def __init__(self) -> None:
        self.held: list[Item] = []
        self._lines = 0
        self._head = b""

    def see(self, raw: Framed) -> None:
        """Note one more line."""
        self._lines += 1
        if not isinstance(raw, Oversize) and len(self._head) < BYTES:
            self._head += bytes(raw[:BYTES]) + b"\n"

    def judge(self, *, whole: bool, last: bool) -> str | None:
        """None while in doubt; "" when it is JSON Lines as far as can be told; else what it seems to be.

        whole: a whole object has been read. last: no line follows. Long lines alone prove nothing: a first record of
        64 KiB may be torn and all the others good.
        """
        if whole:
            return ""
        if self._lines < LINES and not last:
            return None
        said = seems(self._head)
        if not said and self._lines >= LINES and self._head.strip(b" \t\r\n\0"):
            said = "expected JSON Lines, found no whole JSON object in the first 64 lines"
        return said


def seems(head: bytes) -> str:
    """What a file that begins so seems to be, if it is plainly no JSON Lines; else ""."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or _every_other_nul(head):
        return "expected JSON Lines in UTF-8, found what seems to be UTF-16"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "expected JSON Lines, found what seems to be a zstd frame (name it .jsonl.zst)"
    if head.startswith(b"\x1f\x8b"):
        return "expected JSON Lines, found what seems to be gzip"
    lines = [line.strip() for line in head.lstrip(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if len(lines) > 1 and lines[0] == b"{" and lines[1].startswith(b'"'):
        return "expected JSON Lines, found what seems to be one JSON document over many lines"
    if len(lines) > 1 and (lines[0] in (b"[", b"[{") or (lines[0].startswith(b'[{"') and not lines[0].endswith(b"]"))):
        return "expected JSON Lines, found what seems to be a JSON array over many lines"
    return ""


def _every_other_nul(head: bytes) -> bool:
    sample = head[:512]
    if len(sample) < 8:
        return False
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    return (even > 0.7 * half and odd < 0.1 * half) or (odd > 0.7 * half and even < 0.1 * half)
