"""Writes a layout as text to lie beside the state, and reads it back or says why it cannot be trusted."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streamapp.durable_forms import LAYOUT, VersionRefusal
from streamapp.spec.app_bounds import MOST_PARTITIONS
from streamapp.spec.reasons import Reason
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.layouts.run_encoding import (
    name_runs,
    names_of,
    number_runs,
    numbers_of,
)
from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

_MANY = 8 * MOST_PARTITIONS
"""Entries of a layout, so that a few bytes cannot ask for all memory: removed streams stay in it."""
_MOST_CHARACTERS = 200 * MOST_PARTITIONS
_NOBODY = -1

Count = Annotated[int, Field(ge=0, le=_MANY)]
Numbers = list[tuple[int, Count, Annotated[int, Field(ge=0, le=1)]]]
Names = list[tuple[str, Annotated[int, Field(ge=0, le=10**18)], Count, str]]


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WrittenStream(_Written):
    """One stream; owners are numbers of tasks."""

    first: Count
    last: Count
    initial: Count
    owners: Numbers
    folds: Numbers


class WrittenSplit(_Written):
    """One growth."""

    stream: str
    before: Count
    after: Count
    seen_at: float
    parting: KeyMovement
    offsets: list[int] | None


class WrittenLayout(_Written):
    """A layout as it is written."""

    run: str
    grouper: str
    tasks: Names
    changelog: Numbers  # by task, in the order of the names' texts, in which numbers are given out
    everywhere: list[Count]
    streams: dict[str, WrittenStream]
    splits: list[WrittenSplit]
    ends: dict[str, list[tuple[Count, int]]]


def written_layout(layout: Layout) -> WrittenLayout:
    """The layout in its written form."""
    runs = name_runs(_all_tasks(layout))
    number = {task: place for place, task in enumerate(names_of(runs))}
    ends: dict[str, list[tuple[int, int]]] = {}
    for partition, end in sorted(layout.ends.items()):
        ends.setdefault(partition.stream, []).append((partition.index, end))
    return WrittenLayout(
        run=layout.run,
        grouper=layout.grouper,
        tasks=runs,
        changelog=number_runs(layout.changelog.get(task, _NOBODY) for task in sorted(number)),
        everywhere=[number[task] for task in layout.everywhere],
        streams={
            name: WrittenStream(
                first=stream.first,
                last=stream.last,
                initial=stream.initial,
                owners=number_runs(_NOBODY if task is None else number[task] for task in stream.owners),
                folds=number_runs(stream.folds),
            )
            for name, stream in sorted(layout.streams.items())
        },
        splits=[
            WrittenSplit(
                stream=split.stream,
                before=split.before,
                after=split.after,
                seen_at=split.seen_at,
                parting=split.parting,
                offsets=None if split.offsets is None else list(split.offsets),
            )
            for split in layout.splits
        ],
        ends=ends,
    )


def layout_of(form: WrittenLayout) -> Layout:
    """The layout of a written form; a ValueError says where it contradicts itself."""
    _check_size(form)
    tasks = names_of(form.tasks)
    if len(set(tasks)) != len(tasks):
        raise ValueError("a task is named twice")
    changelog = numbers_of(form.changelog)
    if len(changelog) != len(tasks):
        raise ValueError(f"{len(tasks)} tasks and {len(changelog)} changelog numbers")
    return Layout(
        run=form.run,
        grouper=form.grouper,
        streams={name: _stream(name, stream, tasks) for name, stream in form.streams.items()},
        changelog={
            task: number for task, number in zip(sorted(tasks), changelog, strict=True) if number != _NOBODY
        },
        everywhere=tuple(_task(tasks, place) for place in form.everywhere),
        splits=tuple(_split(split) for split in form.splits),
        ends={Partition(stream, index): end for stream, pairs in form.ends.items() for index, end in pairs},
    )


def _stream(name: str, form: WrittenStream, tasks: list[str]) -> StreamLayout:
    owners = tuple(None if place == _NOBODY else _task(tasks, place) for place in numbers_of(form.owners))
    folds = tuple(numbers_of(form.folds))
    if owners and len(owners) != form.initial:
        raise ValueError(f"{name} has {len(owners)} owners and {form.initial} initial partitions")
    if folds and len(folds) != form.last - form.initial:
        raise ValueError(f"{name} has {len(folds)} folds for {form.last - form.initial} later partitions")
    if any(not 0 <= fold < form.initial for fold in folds):
        raise ValueError(f"{name} has a fold outside its {form.initial} initial partitions")
    return StreamLayout(form.first, form.last, form.initial, owners, folds)


def _split(form: WrittenSplit) -> Split:
    if form.offsets is not None and len(form.offsets) != form.before:
        raise ValueError(
            f"a split of {form.stream} has {len(form.offsets)} offsets for {form.before} partitions"
        )
    offsets = None if form.offsets is None else tuple(form.offsets)
    return Split(form.stream, form.before, form.after, form.seen_at, form.parting, offsets)


def _task(tasks: list[str], place: int) -> str:
    if not 0 <= place < len(tasks):
        raise ValueError(f"task number {place} of {len(tasks)}")
    return tasks[place]


def _check_size(form: WrittenLayout) -> None:
    """Refuse runs that stand for more than any app has, before they are unfolded."""
    lists = [form.changelog, *(runs for one in form.streams.values() for runs in (one.owners, one.folds))]
    entries = sum(count for runs in lists for _, count, _ in runs)
    entries += sum(count for _, _, count, _ in form.tasks)
    if entries > _MANY:
        raise ValueError(f"it has {entries:,} entries; at most {_MANY:,} are read")
    characters = sum((len(before) + len(after)) * count for before, _, count, after in form.tasks)
    if characters > _MOST_CHARACTERS:
        raise ValueError(f"its names have {characters:,} characters; at most {_MOST_CHARACTERS:,} are read")


def _all_tasks(layout: Layout) -> Iterator[str]:
    yield from layout.changelog
    yield from layout.everywhere
    for stream in layout.streams.values():
        yield from _known(stream.owners)


def _known(owners: Iterable[str | None]) -> Iterator[str]:
    return (task for task in owners if task is not None)


_RESTORE = "restore it from its copy; only raise resetNonce if the state may be given up"


def encode_layout(layout: Layout) -> str:
    """The layout as JSON, with a format version and a checksum over all of it."""
    body = written_layout(layout).model_dump(mode="json")
    return _canonical({"format": LAYOUT.version, "checksum": _checksum(LAYOUT.version, body), "layout": body})


def decode_layout(text: str) -> Layout | Refusal:
    """The layout in a text that `encode` wrote, or a refusal: a layout is never guessed."""
    body = _unsealed(text)
    if isinstance(body, Refusal):
        return body
    try:
        return layout_of(WrittenLayout.model_validate(body))
    except ValidationError as error:
        first = error.errors()[0]
        return _damaged(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except ValueError as error:
        return _damaged(str(error))


def _unsealed(text: str) -> dict[str, Any] | Refusal:
    try:
        document = json.loads(text)
        version, checksum, body = document["format"], document["checksum"], document["layout"]
        # The checksum is the same in every format, so that damage is not taken for a later format.
        whole = checksum == _checksum(version, body) and isinstance(body, dict)
    except (ValueError, TypeError, KeyError, RecursionError):
        return _damaged("it is no JSON object with a format, a checksum and a layout")
    if not whole:
        return _damaged("its checksum differs")
    version_read = LAYOUT.read_version(version, "it")
    if isinstance(version_read, VersionRefusal):
        return Refusal(version_read.reason, "layout", version_read.message, version_read.hint or _RESTORE)
    layout: dict[str, Any] = body
    return layout


def _checksum(version: object, body: object) -> str:
    return hashlib.sha256(_canonical([version, body]).encode()).hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _damaged(what: str) -> Refusal:
    return Refusal(
        Reason.DAMAGED_DATA,
        "layout",
        f"it cannot be read: {what}",
        _RESTORE,
    )
