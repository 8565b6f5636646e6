"""The push core of each agent's stream by its own name, for callers who know whose it is."""

from __future__ import annotations

from ..views.live import Live
from .capture import Capture


class PiStream(Capture):
    """What `pi --mode json` and `pi --mode rpc` print: `feed(data)` and `close()` give the events, pieces of messages under
    way among them; `live` says how the runs stand."""

    def __init__(self, *, live: Live | None = None, name: str = "<stream>") -> None:
        super().__init__("pi", live=live, name=name)
