"""turnlog reads what coding agents leave on disk as one typed stream of events in which every byte is accounted for.

    import turnlog

    with turnlog.read("session.jsonl") as reader:
        for item in reader:
            print(item.kind, item.line, item.start, item.end)
    print(reader.finish().status)

The public names are the ones listed here. Each is imported from its room when it is first asked for, so that importing the
package costs nothing and the command starts fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .contract import ByteCounts, Place, ReadOptions, ReadStatus, ReadSummary
    from .discover import Discovery, Roots, SessionFile, find_sessions, roots_from_env, roots_from_home
    from .errors import (
        FaultError,
        FaultKind,
        InvalidOptionsError,
        LineFault,
        NoSuchRun,
        SnapshotTruncated,
        SourceChanged,
        SourceCorrupt,
        SourceError,
        SourceTooLarge,
        SourceUnreadable,
        TurnlogError,
        UnknownFormatError,
    )
    from .formats import FORMATS
    from .formats.base import Format
    from .formats.swink.entries import SessionEntry, messages
    from .history import HistoryEntry, history_files, read_history
    from .jsontext import clean
    from .ledger.context import SessionContext, session_context
    from .ledger.evidence import Explanation
    from .ledger.explain import NoSuchCell, explain
    from .ledger.identity import Ledger, merge
    from .ledger.machine import survey
    from .ledger.overview import Overview, overview
    from .ledger.prices import Cost, CostSum, Pricer
    from .ledger.prices.listing import PriceList, price_list
    from .ledger.prices.overrides import read_overrides
    from .ledger.prices.store import load_table, update_prices
    from .ledger.scan import FileScan, scan_file, scan_files
    from .ledger.sums import UsageReport
    from .ledger.tree import SessionTree, session_tree
    from .ledger.usage import usage_report
    from .live.answer import Answer, answer
    from .live.capture import Capture
    from .live.process import ProgramNotStarted
    from .live.rpc import PiRpc
    from .live.rpc_errors import RpcClosed, RpcDied, RpcError, RpcProtocolError, RpcRefused, RpcTimeout
    from .live.rpc_records import UiRequest
    from .live.run import AsyncRun, Ran, Running, arun, run
    from .live.spool import BytesLost
    from .live.streams import PiStream
    from .model import (
        EVENTS,
        BranchSummary,
        Compaction,
        ContextEdit,
        Custom,
        CustomMessage,
        Event,
        Image,
        Item,
        Label,
        Message,
        Meta,
        ModelChange,
        Prompt,
        Record,
        SessionName,
        Thinking,
        ThinkingLevelChange,
        ToolCall,
        ToolResult,
        Totals,
        Turn,
        Usage,
    )
    from .parser import Parser
    from .raw import RawRecord, read_raw
    from .reader import AsyncReader, Reader, aread, aread_from, read, read_from
    from .schemas import schema
    from .titles import read_titles
    from .tokens import Additive, Counts, Semantics
    from .views.live import Live, RunView
    from .views.tree import Tree, tree
    from .views.verdict import Verdict, verdict
    from .walker import WalkedLine, walk

_ROOMS: dict[str, str] = {
    "contract": "ByteCounts Place ReadOptions ReadStatus ReadSummary",
    "discover": "Discovery Roots SessionFile find_sessions roots_from_env roots_from_home",
    "errors": """FaultError FaultKind InvalidOptionsError LineFault NoSuchRun SnapshotTruncated SourceChanged SourceCorrupt SourceError
        SourceTooLarge SourceUnreadable TurnlogError UnknownFormatError""",
    "formats": "FORMATS",
    "formats.base": "Format",
    "formats.swink.entries": "SessionEntry messages",
    "history": "HistoryEntry history_files read_history",
    "jsontext": "clean",
    "ledger.context": "SessionContext session_context",
    "ledger.evidence": "Explanation",
    "ledger.explain": "NoSuchCell explain",
    "ledger.identity": "Ledger merge",
    "ledger.machine": "survey",
    "ledger.overview": "Overview overview",
    "ledger.prices": "Cost CostSum Pricer",
    "ledger.prices.listing": "PriceList price_list",
    "ledger.prices.overrides": "read_overrides",
    "ledger.prices.store": "load_table update_prices",
    "ledger.scan": "FileScan scan_file scan_files",
    "ledger.sums": "UsageReport",
    "ledger.usage": "usage_report",
    "ledger.tree": "SessionTree session_tree",
    "live.answer": "Answer answer",
    "live.capture": "Capture",
    "live.process": "ProgramNotStarted",
    "live.rpc": "PiRpc",
    "live.rpc_errors": "RpcClosed RpcDied RpcError RpcProtocolError RpcRefused RpcTimeout",
    "live.rpc_records": "UiRequest",
    "live.run": "AsyncRun Ran Running arun run",
    "live.spool": "BytesLost",
    "live.streams": "PiStream",
    "model": """BranchSummary Compaction ContextEdit Custom CustomMessage EVENTS Event Image Item Label Message Meta ModelChange
        Prompt Record SessionName Thinking ThinkingLevelChange ToolCall ToolResult Totals Turn Usage""",
    "parser": "Parser",
    "raw": "RawRecord read_raw",
    "reader": "AsyncReader Reader aread aread_from read read_from",
    "schemas": "schema",
    "titles": "read_titles",
    "tokens": "Additive Counts Semantics",
    "views.tree": "Tree tree",
    "views.live": "Live RunView",
    "views.verdict": "Verdict verdict",
    "walker": "WalkedLine walk",
}
_WHERE = {name: room for room, names in _ROOMS.items() for name in names.split()}

__all__ = [
    "EVENTS",
    "FORMATS",
    "Additive",
    "Answer",
    "AsyncReader",
    "AsyncRun",
    "BranchSummary",
    "ByteCounts",
    "BytesLost",
    "Capture",
    "Compaction",
    "ContextEdit",
    "Cost",
    "CostSum",
    "Counts",
    "Custom",
    "CustomMessage",
    "Discovery",
    "Event",
    "Explanation",
    "FaultError",
    "FaultKind",
    "FileScan",
    "Format",
    "HistoryEntry",
    "Image",
    "InvalidOptionsError",
    "Item",
    "Label",
    "Ledger",
    "LineFault",
    "Live",
    "Message",
    "Meta",
    "ModelChange",
    "NoSuchCell",
    "NoSuchRun",
    "Overview",
    "Parser",
    "PiRpc",
    "PiStream",
    "Place",
    "PriceList",
    "Pricer",
    "ProgramNotStarted",
    "Prompt",
    "Ran",
    "RawRecord",
    "ReadOptions",
    "ReadStatus",
    "ReadSummary",
    "Reader",
    "Record",
    "Roots",
    "RpcClosed",
    "RpcDied",
    "RpcError",
    "RpcProtocolError",
    "RpcRefused",
    "RpcTimeout",
    "RunView",
    "Running",
    "Semantics",
    "SessionContext",
    "SessionEntry",
    "SessionFile",
    "SessionName",
    "SessionTree",
    "SnapshotTruncated",
    "SourceChanged",
    "SourceCorrupt",
    "SourceError",
    "SourceTooLarge",
    "SourceUnreadable",
    "Thinking",
    "ThinkingLevelChange",
    "ToolCall",
    "ToolResult",
    "Totals",
    "Tree",
    "Turn",
    "TurnlogError",
    "UiRequest",
    "UnknownFormatError",
    "Usage",
    "UsageReport",
    "Verdict",
    "WalkedLine",
    "__version__",
    "answer",
    "aread",
    "aread_from",
    "arun",
    "clean",
    "explain",
    "find_sessions",
    "history_files",
    "load_table",
    "merge",
    "messages",
    "overview",
    "price_list",
    "read",
    "read_from",
    "read_history",
    "read_overrides",
    "read_raw",
    "read_titles",
    "roots_from_env",
    "roots_from_home",
    "run",
    "scan_file",
    "scan_files",
    "schema",
    "session_context",
    "session_tree",
    "survey",
    "tree",
    "update_prices",
    "usage_report",
    "verdict",
    "walk",
]


def __getattr__(name: str) -> Any:
    room = _WHERE.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{room}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
