"""Windows of event time, in plain Python: which rows each takes, which are late, and when it goes out."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.oracle.answers.watermarks import Reached

TimedRow = tuple[int, int, int, int, int]
"""Number, step, task, time and group of a row."""


@dataclass(frozen=True, slots=True)
class Emission:
    """Totals that go out: of which rows, in which step, of which window."""

    step: int
    start: int
    end: int
    time: int
    rows: tuple[int, ...]


@dataclass(slots=True)
class Emissions:
    """All that goes out of an aggregate, the times of rows that came too late, and what waits at the end."""

    emitted: list[Emission] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    open: list[tuple[int, int]] = field(default_factory=list)  # task and end of each window that waits

    def rows(self) -> list[tuple[int, ...]]:
        """A row for each emission, with its number."""
        return [(n, one.step, one.start, one.end, one.time) for n, one in enumerate(self.emitted)]

    def members(self) -> list[tuple[int, int]]:
        """The rows of each emission."""
        return [(number, row) for number, one in enumerate(self.emitted) for row in one.rows]


def windows_of(
    rows: Sequence[TimedRow],
    reached: Reached,
    size_advance: tuple[int, int],
    lateness: int,
    updates: bool,
    last_step: int,
) -> Emissions:
    """Tumbling and hopping windows; without a size one that never ends."""
    size, advance = size_advance
    emissions = Emissions()
    members: defaultdict[tuple[int, int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for number, step, task, time, group in rows:
        starts = [0]
        if size:
            latest = time // advance * advance
            starts = [start for start in range(latest, latest - size, -advance) if time < start + size]
        closed = reached(task, step - 1) if size else None
        open_starts = [s for s in starts if closed is None or s + size + lateness > closed]
        if not open_starts:
            emissions.late.append(time)
        for start in open_starts:
            members[task, group, start].append((number, step, time))
    for (task, _, start), taken in members.items():
        end = start + size
        if size and not updates and not _passed(reached(task, last_step), end):
            emissions.open.append((task, end))
        for step in _steps_out(taken, task, end, reached, updates or not size, last_step):
            so_far = [one for one in taken if one[1] <= step]
            time = end - 1 if size else so_far[-1][2]
            emissions.emitted.append(Emission(step, start, end, time, tuple(one[0] for one in so_far)))
    return emissions


def _steps_out(
    taken: Sequence[tuple[int, int, int]],
    task: int,
    end: int,
    reached: Reached,
    updates: bool,
    last_step: int,
) -> list[int]:
    """The steps in which a window goes out."""
    brought = {step for _, step, _ in taken}
    if updates:
        return sorted(brought)
    complete = next((s for s in range(min(brought), last_step + 1) if _passed(reached(task, s), end)), None)
    if complete is None:
        return []
    return sorted({complete, *(step for step in brought if step > complete)})


def _passed(watermark: int | None, end: int) -> bool:
    return watermark is not None and watermark >= end


@dataclass(slots=True)
class _Session:
    first: int
    last: int
    rows: list[int]
    changed: bool = True


def sessions_of(
    rows: Sequence[TimedRow], reached: Reached, gap: int, lateness: int, updates: bool, last_step: int
) -> Emissions:
    """Sessions: rows of a group with no longer silence between them than the gap."""
    emissions = Emissions()
    groups: defaultdict[tuple[int, int], list[_Session]] = defaultdict(list)
    for step in range(last_step + 1):
        for number, at, task, time, group in rows:
            if at != step:
                continue
            closed = reached(task, step - 1)
            if closed is not None and time < closed - lateness:
                emissions.late.append(time)
                continue
            sessions = groups[task, group]
            touching = [one for one in sessions if one.first - gap <= time <= one.last + gap]
            joined = _Session(time, time, [number])
            for one in touching:
                sessions.remove(one)
                joined.first, joined.last = min(joined.first, one.first), max(joined.last, one.last)
                joined.rows += one.rows
            sessions.append(joined)
        for (task, _), sessions in groups.items():
            before, now = reached(task, step - 1), reached(task, step)
            for one in sessions:
                end = one.last + gap
                is_past = now is not None and now > end
                passes = is_past and not (before is not None and before > end)
                if (one.changed and (updates or is_past)) or (passes and not updates):
                    emissions.emitted.append(Emission(step, one.first, end, end - 1, tuple(one.rows)))
                one.changed = False
    if not updates:
        ends = [(task, one.last + gap) for (task, _), sessions in groups.items() for one in sessions]
        emissions.open = [(task, end) for task, end in ends if not _passed(reached(task, last_step), end + 1)]
    return emissions
