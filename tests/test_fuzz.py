"""About ten seconds of hostile bytes over every format: only turnlog's own exceptions come out, every byte is accounted
for, and the cut of the bytes changes nothing. A failing seed is in the test's message."""

import random
import time

import pytest

from reading import CASES, cut_at, identity, mutated, parse, place, plain
from turnlog.errors import TurnlogError
from turnlog.formats import FORMATS
from turnlog.model import Message, ToolCall

SECONDS = 10


def ask(items):
    """Everything that is made only when it is asked for."""
    for item in items:
        plain(item)
        if item.kind == "fault":
            item.sentence("x.jsonl")
        elif isinstance(item, Message):
            assert isinstance(item.text, str)
            assert all(start <= end for start, end in item.segments)
        elif isinstance(item, ToolCall):
            item.arguments  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_only_our_own_errors_come_out_of_hostile_bytes(format):
    mine = [(path.read_bytes(), place(path)) for name, path in CASES if name == format]
    assert mine, f"no fixtures for {format}"
    until = time.monotonic() + SECONDS / len(FORMATS)
    seed = 0
    while time.monotonic() < until:
        seed += 1
        rng = random.Random(seed)
        data, where = rng.choice(mine)
        broken = mutated(data, seed)
        if rng.random() < 0.2:
            broken += mutated(rng.choice(mine)[0], seed + 1)
        options = {
            "repair": rng.random() < 0.7,
            "tail": rng.choice(("strict", "allow-incomplete")),
            "max_record_bytes": rng.choice((None, 64, 1000)),
            "max_file_bytes": rng.choice((None, None, len(broken), len(broken) // 2)),
            "codex_usage": rng.choice(("token_count", "response", "all")),
        }
        try:
            result = parse(format, broken, place=where, **options)
            ask(result.items)
            cuts = cut_at(broken, [rng.randrange(len(broken) + 1) for _ in range(rng.randrange(9))])
            again = parse(format, None, cuts, where, **options)
            identity(again.summary)
            assert [plain(i) for i in again.items] == [plain(i) for i in result.items]
            assert again.summary == result.summary
        except TurnlogError:
            raise AssertionError(f"seed {seed}: the push core gives errors as values") from None
        except Exception as error:
            raise AssertionError(f"seed {seed}, {format}, {options}: {type(error).__name__}") from error


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("seed", range(40))
def test_random_bytes_are_faults_or_one_source_error(format, seed):
    rng = random.Random(seed)
    alphabet = rng.choice((bytes(range(256)), b'{}[]",:\\n\n 01ue', b'{"type":user}\n\0'))
    data = bytes(rng.choice(alphabet) for _ in range(rng.randrange(4000)))

    result = parse(format, data, repair=rng.random() < 0.8)
    ask(result.items)
    assert result.error is None or isinstance(result.error, TurnlogError)


@pytest.mark.parametrize("format", FORMATS)
def test_a_record_of_another_agent_is_no_crash(format):
    for _, path in CASES:
        result = parse(format, path.read_bytes())
        ask(result.items)
