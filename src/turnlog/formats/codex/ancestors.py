"""Where what a thread copied, or a running total it took over, stands in the files of its ancestors.

A copied sample is known by its turn, totals and last sample, which the copy keeps; a copied `token_usage_record` by the
thread and response it names. What stands for it there may itself be left to another one: the ledger follows that.
"""

from __future__ import annotations

from ...work import FileWork, KeyPart, Left, Spot, spot

COPIED = "copied from the parent thread"
PARENTS_TOTAL = "the parent thread's running total"

Places = dict[tuple[KeyPart, ...], Spot]


def born(uuid: str) -> int | None:
    """Milliseconds after 1970 that a UUIDv7 was made at; None for any other id."""
    if len(uuid) != 36 or uuid[14] != "7" or uuid[8] != "-":
        return None
    try:
        return int(uuid[:8] + uuid[9:13], 16)
    except ValueError:
        return None


def place_ancestors(by_thread: dict[str, list[FileWork]]) -> None:
    """Give each copy the place of what it is a copy of, where that is here. by_thread: the files of each thread, those
    that are preferred first."""
    ancestors = _Ancestors(by_thread)
    for works in by_thread.values():
        for work in works:
            for left in work.left:
                if left.instead is None and left.reason in (COPIED, PARENTS_TOTAL):
                    left.instead = ancestors.place(left, work.hints.thread, work.hints.parents)


class _Ancestors:
    """The places of each thread's samples: made for a thread when something is first looked for in it."""

    def __init__(self, by_thread: dict[str, list[FileWork]]) -> None:
        self._files = by_thread
        self._keys: dict[str, Places] = {}
        self._totals: dict[str, Places] = {}
        self._everywhere: Places | None = None

    def place(self, left: Left, thread: str, parents: list[str]) -> Spot | None:
        """The place of the same sample in its own thread's file; None where that is not here."""
        _, named, *rest = left.sample.key
        key = tuple(rest)
        if left.reason == PARENTS_TOTAL:
            return self._first(self._totals, parents, key[1:3])
        # A copied record keeps the thread that it is of; a count has only the file it stands in.
        found = self._first(self._keys, parents if named == thread else [str(named)], key)
        if found is None and born(str(key[0])) is not None:
            # The id of a turn is one turn's everywhere, and of a chain of forks the middle one may be gone.
            found = self._anywhere().get(key)
        return found

    def _first(self, index: dict[str, Places], threads: list[str], key: tuple[KeyPart, ...]) -> Spot | None:
        for thread in threads:
            if thread not in self._keys:
                self._look(thread)
            found = index[thread].get(key)
            if found is not None:
                return found
        return None

    def _look(self, thread: str) -> None:
        """Note what the files of that thread hold: by turn and totals, and by totals alone (there the last one)."""
        keys: Places = {}
        totals: Places = {}
        for work in self._files.get(thread, ()):
            known = [(left.sample, left.instead) for left in work.left if left.instead is not None]
            counted = [(sample, spot(work.path, sample)) for sample in work.samples]
            for sample, place in sorted([*known, *counted], key=lambda pair: pair[0].line):
                key = sample.key[2:]
                keys.setdefault(key, place)
                totals[key[1:3]] = place
        self._keys[thread], self._totals[thread] = keys, totals

    def _anywhere(self) -> Places:
        if self._everywhere is None:
            self._everywhere = {
                sample.key[2:]: spot(work.path, sample)
                for works in self._files.values()
                for work in works
                for sample in work.samples
            }
        return self._everywhere
