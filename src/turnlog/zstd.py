"""A zstd file as a plain stream: frames read through, decoded bytes out, damage said."""

from __future__ import annotations

import sys
from typing import IO

from .errors import SourceCorrupt, SourceUnreadable

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError
else:
    from backports.zstd import ZstdDecompressor, ZstdError

CHUNK = 1 << 17
MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE = tuple(bytes([n]) + b"\x2a\x4d\x18" for n in range(0x50, 0x60))


class Unpacked:
    """A binary file object over a compressed one. Several frames are read through; a cut or broken frame raises
    SourceCorrupt after the bytes there were; what follows the last frame and is none is a problem, not an error."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.problems: list[str] = []
        self._file = file
        self._name = name
        self._decoder: ZstdDecompressor | None = None
        self._rest = b""
        self._frames = 0
        self._ended = False

    def read(self, size: int = 1 << 20, /) -> bytes:
        """Up to `size` decoded bytes; b"" at the end."""
        while not self._ended:
            if self._decoder is None and not self._begin():
                return b""
            assert self._decoder is not None
            data = b""
            if self._decoder.needs_input:
                data, self._rest = self._rest or self._take(), b""
                if not data:
                    self._ended = True
                    raise SourceCorrupt(self._name, "expected the rest of a zstd frame, found the end of the file")
            try:
                out = self._decoder.decompress(data, size)
            except ZstdError:
                self._ended = True
                raise SourceCorrupt(self._name, "expected a zstd frame, found bytes that are none") from None
            if self._decoder.eof:
                self._rest = self._decoder.unused_data
                self._decoder = None
                self._frames += 1
            if out:
                return out
        return b""

    def close(self) -> None:
        """Close the file below."""
        self._file.close()

    def _take(self) -> bytes:
        try:
            return self._file.read(CHUNK)
        except OSError as error:
            raise SourceUnreadable(self._name, error) from error

    def _begin(self) -> bool:
        """Start the next frame, if one follows."""
        while len(self._rest) < 4 and (more := self._take()):
            self._rest += more
        # Fewer bytes than a frame's first four may be the beginning of one that was cut.
        cut = len(self._rest) < 4 and MAGIC.startswith(self._rest)
        if self._rest and self._frames and not cut and not self._rest.startswith((MAGIC, *SKIPPABLE)):
            self.problems.append("data that is no zstd frame follows the last frame")
            self._rest = b""
        if not self._rest:
            self._ended = True
            return False
        self._decoder = ZstdDecompressor()
        return True
