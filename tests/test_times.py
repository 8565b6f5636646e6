"""Times: the quick look at the usual shape says what the careful reading says, and nothing more."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from turnlog import Place, ReadOptions
from turnlog.formats.base import Session, moment

USUAL = "2026-05-01T12:13:14.123Z"


@st.composite
def _nearly_usual(draw: st.DrawFn) -> str:
    """The usual shape with some letters changed, put in or left out."""
    letters = list(USUAL)
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(letters) - 1))
        new = draw(st.sampled_from([*"0129-:.,TtZzW+ _", "", "00", "Z0", "\u0661"]))
        letters[at] = new
    return "".join(letters)


@given(_nearly_usual())
@example("2026-W01-1T12:13:14.1234Z")
@example("20260501T121314.1234567Z")
@example("2026-05-01T12:13:14,123Z")
@example("2026-05-01T12:13:14.Z")
@example("2026-05-01T121314.12345Z")
@example("2026-05-01T12:13:14+0100")
@example("2026-13-01T12:13:14.123Z")
def test_the_quick_look_at_a_time_agrees_with_the_careful_one(text):
    session = Session(Place(), ReadOptions())
    found = session.when(text)
    assert found == moment(text)
    assert bool(session.problems) == (found is None)


def test_the_usual_time_is_read_to_the_millisecond():
    at = Session(Place(), ReadOptions()).when(USUAL)
    assert at is not None
    assert (at.isoformat(), at.tzname()) == ("2026-05-01T12:13:14.123000+00:00", "UTC")
