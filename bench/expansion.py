"""Expansion: forming the tasks of grown streams, by size, and what is remembered of them."""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from bench.row import Aim, Compared, Row
from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK, Grouper
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.task_grouping import group_tasks
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import decode_layout, encode_layout
from streamapp.tasks.layouts.layout_conflict import layout_conflict
from streamapp.tasks.refusal import Refusal

SERIES = (1_000, 10_000, 100_000)
AIM = Aim(most=100)


def rows() -> Iterator[Row]:
    """How time grows with partitions, then kinds of growth to 100,000, then the layout of 100,000."""
    first = 0.0
    for count in SERIES:
        milliseconds = _growth(count // 2, count)
        each = milliseconds / count
        first = first or each
        beside = f"{each * 1e6:,.0f} ns each ({each / first:.2f} of the first)"
        yield Row(f"{count // 2:,} partitions grow to {count:,}", milliseconds, "ms", AIM, beside)
    yield from _kinds(SERIES[-1])
    yield from _layout(SERIES[-1])


def _kinds(count: int) -> Iterator[Row]:
    """Growths that take other ways through the code, each beside the plain one."""
    plain = _growth(count // 2, count)
    kinds: dict[str, dict[str, Any]] = {
        "from 1,000 partitions": {"before": 1_000},
        "of a task for each partition": {"grouper": BY_STREAM_PARTITION},
        "of one task for all": {"grouper": SINGLE_TASK},
        "by an algorithm of one's own": {"algorithm": lambda index, _count, initial: index % initial},
        "beside ten broadcast streams": {"beside": {f"b{n}": 10 for n in range(10)}},
    }
    for name, kind in kinds.items():
        milliseconds = _growth(kind.pop("before", count // 2), count, **kind)
        compared = Compared("the plain one", plain)
        yield Row(f"growth to {count:,} {name}", milliseconds, "ms", compared=compared)


def _growth(
    before: int,
    after: int,
    grouper: Grouper = BY_PARTITION,
    beside: dict[str, int] | None = None,
    **more: Any,
) -> float:
    others = {name: range(count) for name, count in (beside or {}).items()}

    def formed(count: int, layout: Layout | None) -> Assignment:
        streams = {"views": range(count), **others}
        settings = {"stateful": True, "broadcast": tuple(others), **more}
        return _accepted(group_tasks(GroupingRequest(streams, grouper, layout=layout, **settings)))

    remembered = formed(before, None).layout
    return _best(lambda: formed(after, remembered))


def _layout(count: int) -> Iterator[Row]:
    first = _accepted(group_tasks(GroupingRequest({"views": range(count // 2)}, stateful=True)))
    grown = _accepted(
        group_tasks(GroupingRequest({"views": range(count)}, stateful=True, layout=first.layout))
    )
    text = encode_layout(grown.layout)
    yield Row(f"a layout of {count:,} partitions, written", len(text), "bytes")
    yield Row("  to write it", _best(lambda: encode_layout(grown.layout)), "ms")
    yield Row("  to read it", _best(lambda: decode_layout(text)), "ms")
    yield Row(
        "  to compare it with a model",
        _best(lambda: layout_conflict(first.layout, grown.layout, grown.tasks)),
        "ms",
    )


def _accepted(found: Assignment | Refusal) -> Assignment:
    if isinstance(found, Refusal):
        raise TypeError(str(found))
    return found


def _best(work: Callable[[], object]) -> float:
    """The shortest of ten runs, in milliseconds: the others measure what else the machine did."""
    taken = []
    for _ in range(10):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return min(taken) * 1e3
