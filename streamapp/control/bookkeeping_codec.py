"""A task's books as text, small enough to be part of every checkpoint.

What a thousand upstream tasks said differs little from task to task, and even less from partition to
partition: names stand there once, times as distances, and zlib takes away the repetition that is left.
"""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from streamapp.control.bookkeeping import Bookkeeping
from streamapp.control.control_message import EARLIEST, ENDED
from streamapp.control.control_sender import LastSent
from streamapp.control.upstream import UpstreamProgress
from streamapp.durable_forms import BOOKKEEPING, VersionRefusal
from streamapp.spec.reasons import Reason
from streamapp.tasks.layouts.run_encoding import name_runs, names_of, number_runs, numbers_of
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

# More tasks than any model has, so that a few bytes cannot ask for all memory.
_MANY = 10_000_000

Count = Annotated[int, Field(ge=0, le=_MANY)]
Number = Annotated[int, Field(ge=0)]
Time = Annotated[int, Field(ge=EARLIEST, le=ENDED)]


class _Written(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WrittenUpstream(_Written):
    """One partition. Distances stand for times: `reached` after `base`, None an end; `ago` before `at`."""

    stream: str
    index: Number
    watermark: Time | None
    since: int
    spoken: int | None
    run: Count | None
    left: Count | None
    model: Number
    tasks: Count
    who: list[tuple[Count, Count, Annotated[int, Field(ge=0, le=1)]]]  # runs of numbers of tasks
    base: Time
    reached: list[Number | None]
    ago: list[int]


class WrittenBookkeeping(_Written):
    """A task's books as they are written."""

    at: int
    whole: bool
    tasks: list[tuple[str, Number, Count, str]]
    runs: list[str]
    partitions: list[WrittenUpstream]
    emitted: dict[str, Time]
    sent: dict[str, tuple[Number, Time, int]]


def written_bookkeeping(books: Bookkeeping) -> WrittenBookkeeping:
    """The books in the form in which they are written."""
    upstreams = books.partitions.values()
    tasks = name_runs({task for upstream in upstreams for task in upstream.reached})
    runs = sorted({run for upstream in upstreams for run in (upstream.run, upstream.left) if run is not None})
    number_of = {task: number for number, task in enumerate(names_of(tasks))}
    run_of = {run: number for number, run in enumerate(runs)}
    return WrittenBookkeeping(
        at=books.at,
        whole=books.whole,
        tasks=tasks,
        runs=runs,
        partitions=[
            _written(partition, upstream, books.at, number_of, run_of)
            for partition, upstream in sorted(books.partitions.items())
        ],
        emitted=dict(sorted(books.emitted.items())),
        sent={name: (sent.model, sent.watermark, sent.at) for name, sent in sorted(books.sent.items())},
    )


def bookkeeping_of(form: WrittenBookkeeping) -> Bookkeeping:
    """The books of which this is the written form; what does not agree with itself is a ValueError."""
    if sum(count for _, _, count, _ in form.tasks) > _MANY:
        raise ValueError("it names more tasks than any model has")
    tasks = names_of(form.tasks)
    return Bookkeeping(
        at=form.at,
        partitions={
            Partition(one.stream, one.index): _read(one, form.at, tasks, form.runs) for one in form.partitions
        },
        emitted=form.emitted,
        sent={name: LastSent(model, watermark, at) for name, (model, watermark, at) in form.sent.items()},
        whole=form.whole,
    )


def _written(
    partition: Partition,
    upstream: UpstreamProgress,
    at: int,
    number_of: Mapping[str, int],
    run_of: Mapping[str, int],
) -> WrittenUpstream:
    heard = sorted(
        (number_of[task], reached, upstream.heard[task]) for task, reached in upstream.reached.items()
    )
    base = min((reached for _, reached, _ in heard), default=0)
    return WrittenUpstream(
        stream=partition.stream,
        index=partition.index,
        watermark=upstream.watermark,
        since=upstream.since,
        spoken=upstream.spoken,
        run=None if upstream.run is None else run_of[upstream.run],
        left=None if upstream.left is None else run_of[upstream.left],
        model=upstream.model,
        tasks=upstream.tasks,
        who=number_runs(number for number, _, _ in heard),
        base=base,
        reached=[None if reached == ENDED else reached - base for _, reached, _ in heard],
        ago=[at - when for _, _, when in heard],
    )


def _read(form: WrittenUpstream, at: int, tasks: Sequence[str], runs: Sequence[str]) -> UpstreamProgress:
    if sum(count for _, count, _ in form.who) != len(form.reached):
        raise ValueError("it names other tasks than those that have spoken")
    who = [tasks[number] for number in numbers_of(form.who)]
    reached = [ENDED if distance is None else form.base + distance for distance in form.reached]
    if any(watermark > ENDED for watermark in reached):
        raise ValueError("a task is past the end of its stream")
    return UpstreamProgress(
        since=form.since,
        watermark=form.watermark,
        spoken=form.spoken,
        run=None if form.run is None else runs[form.run],
        left=None if form.left is None else runs[form.left],
        model=form.model,
        tasks=form.tasks,
        reached=dict(zip(who, reached, strict=True)),
        heard=dict(zip(who, (at - distance for distance in form.ago), strict=True)),
    )


# What a reader unpacks at most, so that a few damaged bytes cannot fill the memory.
_UNPACKED_LIMIT = 256 * 1024 * 1024


def encode_bookkeeping(books: Bookkeeping) -> str:
    """The books, or changes to them, as ASCII text."""
    document = f'{{"format":{BOOKKEEPING.version},"books":{written_bookkeeping(books).model_dump_json()}}}'
    return b64encode(zlib.compress(document.encode(), 6)).decode()


def decode_bookkeeping(text: str) -> Bookkeeping | Refusal:
    """The books in a text that `encode` wrote, or a refusal: books are never guessed."""
    try:
        unpack = zlib.decompressobj()
        body = unpack.decompress(b64decode(text, validate=True), _UNPACKED_LIMIT)
        if not unpack.eof or unpack.unused_data:
            return _damaged("it does not end where it should")
        document = json.loads(body)
        version = BOOKKEEPING.read_version(document["format"], "it")
        if isinstance(version, VersionRefusal):
            return Refusal(version.reason, _PATH, version.message, version.hint or _RESTORE)
        return bookkeeping_of(WrittenBookkeeping.model_validate(document["books"]))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return _damaged(f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (ValueError, TypeError, LookupError, RecursionError, zlib.error):
        return _damaged("it is no compressed JSON object with a format and books")


_PATH = "control bookkeeping"
_RESTORE = "restore the checkpoint stream; only raise resetNonce if the state may be given up"


def _damaged(what: str) -> Refusal:
    return Refusal(
        Reason.DAMAGED_DATA,
        _PATH,
        f"it cannot be read: {what}",
        _RESTORE,
    )
