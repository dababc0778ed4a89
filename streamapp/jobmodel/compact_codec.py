"""A job model in few bytes: the form in which it is stored and sent.

Instead of a document it is an owner vector with a few columns beside it. A partition number is written as its
distance from the number in its task's name, since `Partition 7` mostly owns `views#7`.
"""

from collections.abc import Sequence
from itertools import islice
from operator import add

from streamapp.durable_forms import JOB_MODEL
from streamapp.jobmodel.job_model import InvalidJobModelError, JobModel
from streamapp.jobmodel.packed_columns import (
    ColumnReader,
    ColumnWriter,
    MalformedColumnsError,
    split_at_number,
)
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.jobmodel.task_model import TaskModel
from streamapp.jobmodel.unreadable_data import ModelUnreadableError
from streamapp.tasks.partition import Partition

_SEAL = SealedFrame(mark=b"SAJM", form=JOB_MODEL, refusal=ModelUnreadableError)
_NO_CHANGELOG = -1
_UNUSED = 0  # a place that format 1 has behind the version


def encode_model(model: JobModel) -> bytes:
    """The model in its compact form; equal models give equal bytes."""
    names = [task.name for task in model.tasks]
    columns = ColumnWriter()
    columns.numbers([model.version, _UNUSED])
    columns.texts([model.run_id, model.application_id])
    columns.names(names)
    columns.steps([_NO_CHANGELOG if task.changelog is None else task.changelog for task in model.tasks])
    columns.names(model.processors)
    columns.numbers(model.owners)
    _write_partitions(columns, [task.partitions for task in model.tasks], _expected_indexes(names))
    _write_partitions(columns, [model.broadcast], [0])
    return _SEAL.close(columns.packed())


def decode_model(encoded: bytes) -> JobModel:
    """The model from its compact form; anything but what `encode` wrote is a `ModelUnreadableError`."""
    body = _SEAL.open(encoded)
    try:
        return _model(ColumnReader(body))
    except InvalidJobModelError as error:
        raise ModelUnreadableError(error.reason, f"the job model cannot be read: {error}") from error
    except ValueError as error:  # also a text that is no UTF-8
        raise _SEAL.damaged(str(error)) from error


def _model(columns: ColumnReader) -> JobModel:
    version, unused = columns.numbers()
    if unused != _UNUSED:
        raise MalformedColumnsError(f"the number behind its version is {unused}")
    run_id, application_id = columns.texts()
    names = columns.names()
    changelogs = (None if number == _NO_CHANGELOG else number for number in columns.steps())
    processors = columns.names()
    owners = columns.numbers()
    partitions = _read_partitions(columns, _expected_indexes(names))
    (broadcast,) = _read_partitions(columns, [0])
    columns.end()
    return JobModel(
        version=version,
        run_id=run_id,
        application_id=application_id,
        tasks=tuple(map(TaskModel, names, partitions, changelogs)),
        processors=tuple(processors),
        owners=tuple(owners),
        broadcast=broadcast,
    )


def _expected_indexes(names: Sequence[str]) -> list[int]:
    numbers = (split_at_number(name)[1] for name in names)
    return [row if number < 0 else number for row, number in enumerate(numbers)]


def _write_partitions(
    columns: ColumnWriter, groups: Sequence[tuple[Partition, ...]], expected: Sequence[int]
) -> None:
    columns.numbers([len(group) for group in groups])
    columns.choices([stream for group in groups for stream, _ in group])
    rows = zip(groups, expected, strict=True)
    columns.numbers([index - start for group, start in rows for _, index in group])


def _read_partitions(columns: ColumnReader, expected: Sequence[int]) -> list[tuple[Partition, ...]]:
    counts, streams, offsets = columns.numbers(), columns.choices(), columns.numbers()
    if not sum(counts) == len(streams) == len(offsets):
        raise MalformedColumnsError("columns of partitions differ in length")
    starts = (start for count, start in zip(counts, expected, strict=True) for _ in range(count))
    flat = map(Partition, streams, map(add, starts, offsets))
    return [tuple(islice(flat, count)) for count in counts]
