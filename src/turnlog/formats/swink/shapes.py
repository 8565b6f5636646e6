"""swink-agent's messages and model specs as its own types have them: strict, and written back as serde writes them.

Declared in serde's field order. What may be absent has a default; what serde leaves out when there is none stands in the
struct's `LEFT_OUT`. Source: HEAD 937dc25a, run through serde 1.0.217 and serde_json 1.0.139 (sheet SWINK_AGENT 4, 6).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from ...contract import MAX_U64

U64 = Annotated[int, msgspec.Meta(ge=0)]
"""A JSON integer 0..2^64-1. The lower end is msgspec's to check; `Shape` checks the upper, which msgspec cannot."""


class Shape(msgspec.Struct, frozen=True):
    """A struct of swink-agent. Raises ValueError where an integer does not fit in 64 bits."""

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset()
    """Fields that are not written when they hold nothing."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value.__class__ is int and value > MAX_U64:
                raise ValueError("expected a 64-bit integer, found a larger one")


class Base64Source(Shape, frozen=True, tag_field="type", tag="base64"):
    """A picture in the line itself."""

    media_type: str
    data: str


class UrlSource(Shape, frozen=True, tag_field="type", tag="url"):
    """A picture on the network."""

    url: str
    media_type: str


class FileSource(Shape, frozen=True, tag_field="type", tag="file"):
    """A picture in a file."""

    path: str
    media_type: str


class TextBlock(Shape, frozen=True, tag_field="type", tag="text"):
    """Text."""

    text: str


class ThinkingBlock(Shape, frozen=True, tag_field="type", tag="thinking"):
    """What the model thought."""

    thinking: str
    signature: str | None = None


class ToolCallBlock(Shape, frozen=True, tag_field="type", tag="tool_call"):
    """The model asks for a tool. partial_json: what had arrived of the arguments when the stream broke."""

    id: str
    name: str
    arguments: Any
    partial_json: str | None = None


class ImageBlock(Shape, frozen=True, tag_field="type", tag="image"):
    """A picture."""

    source: Base64Source | UrlSource | FileSource


class ExtensionBlock(Shape, frozen=True, tag_field="type", tag="extension"):
    """A block of the host program."""

    type_name: str
    data: Any


Block = TextBlock | ThinkingBlock | ToolCallBlock | ImageBlock | ExtensionBlock


class Usage(Shape, frozen=True):
    """Tokens as the provider's adapter wrote them. extra: other counts by name, such as reasoning."""

    LEFT_OUT = frozenset(("extra",))

    input: U64
    output: U64
    cache_read: U64
    cache_write: U64
    total: U64
    extra: dict[str, U64] = {}

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(count > MAX_U64 for count in self.extra.values()):
            raise ValueError("expected 64-bit integers, found a larger one")


class Cost(Shape, frozen=True):
    """US dollars; all zero means that nothing was priced."""

    LEFT_OUT = frozenset(("extra",))

    input: float
    output: float
    cache_read: float
    cache_write: float
    total: float
    extra: dict[str, float] = {}


class CacheWrite(Shape, frozen=True, tag_field="action", tag="write"):
    """The provider is asked to keep the prompt up to here for `ttl` seconds."""

    ttl: U64


class CacheRead(Shape, frozen=True, tag_field="action", tag="read"):
    """The prompt up to here may be read from the cache."""


CacheHint = CacheWrite | CacheRead

StopReason = Literal["stop", "length", "tool_use", "aborted", "error", "transfer"]
ErrorKind = Literal["throttled", "context_window_exceeded", "auth", "network", "content_filtered", "model_retired"]


class UserMessage(Shape, frozen=True, kw_only=True, tag_field="role", tag="user"):
    """What a person said. timestamp: Unix seconds, 0 where nobody knew."""

    LEFT_OUT = frozenset(("cache_hint",))

    content: tuple[Block, ...]
    timestamp: U64
    cache_hint: CacheHint | None = None


class AssistantMessage(Shape, frozen=True, kw_only=True, tag_field="role", tag="assistant"):
    """What the model said, with its bill. timestamp: Unix seconds, 0 where nobody knew."""

    LEFT_OUT = frozenset(("error_kind", "cache_hint"))

    content: tuple[Block, ...]
    provider: str
    model_id: str
    usage: Usage
    cost: Cost
    stop_reason: StopReason
    error_message: str | None = None
    error_kind: ErrorKind | None = None
    timestamp: U64
    cache_hint: CacheHint | None = None


class ToolResultMessage(Shape, frozen=True, kw_only=True, tag_field="role", tag="tool_result"):
    """What a tool gave back. details: the host's own value, not shown to the model. timestamp: Unix seconds."""

    LEFT_OUT = frozenset(("cache_hint",))

    tool_call_id: str
    content: tuple[Block, ...]
    is_error: bool
    timestamp: U64
    details: Any = None
    cache_hint: CacheHint | None = None


LlmMessage = UserMessage | AssistantMessage | ToolResultMessage

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "extra_high"]


class ThinkingBudgets(Shape, frozen=True):
    """Tokens that each level may think."""

    budgets: dict[ThinkingLevel, U64]


class Capabilities(Shape, frozen=True):
    """What a model can do; sizes in tokens."""

    supports_thinking: bool = False
    supports_vision: bool = False
    supports_tool_use: bool = False
    supports_streaming: bool = False
    supports_structured_output: bool = False
    max_context_window: U64 | None = None
    max_output_tokens: U64 | None = None


class ModelSpec(Shape, frozen=True):
    """A model, as a switch names it."""

    LEFT_OUT = frozenset(("provider_config", "capabilities"))

    provider: str
    model_id: str
    thinking_level: ThinkingLevel
    thinking_budgets: ThinkingBudgets | None = None
    provider_config: Any = None
    capabilities: Capabilities | None = None


def plain(value: Any) -> Any:
    """A shape as the plain JSON value serde would write: the tag first, then the fields in their order."""
    if isinstance(value, Shape):
        config = value.__struct_config__
        out = {config.tag_field: config.tag} if config.tag_field else {}
        for name, key in zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True):
            part = getattr(value, name)
            if isinstance(value, Cost) and isinstance(part, int):
                part = float(part)
            nothing: Any = {} if name == "extra" else None
            if name not in value.LEFT_OUT or part != nothing:
                out[key] = plain(part)
        return out
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value
