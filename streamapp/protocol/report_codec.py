"""The report as text, small for any number of tasks, and back."""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Final

from pydantic import Field

from streamapp.placement.locations.store_history import StoreHistory
from streamapp.protocol.driver_report import (
    CandidateVerdict,
    DriverState,
    ExecutorBinding,
    Progress,
    Report,
    ReportedWarning,
)
from streamapp.protocol.message_frame import (
    MessageForm,
    MessageUnreadableError,
    damaged_message,
    read_message,
    write_message,
)
from streamapp.protocol.packed_lists import bytes_to_text, pack_rows, text_to_bytes, unpack_rows
from streamapp.protocol.store_history_codec import pack_store_history, unpack_store_history
from streamapp.protocol.wanted_state import layout_in
from streamapp.spec.app_bounds import MOST_PARTITIONS, MOST_PROCESSORS
from streamapp.tasks.groupers.first_owners import LONGEST_TASK_NAME
from streamapp.tasks.layouts.layout_codec import encode_layout
from streamapp.tasks.partition import Partition
from streamapp.tasks.user_answers import Growth, OwnFunctions, UserAnswers

_PART: Final = "report"
_MOST_STREAMS: Final = 1_000

PartitionCount = Annotated[int, Field(ge=0, le=MOST_PARTITIONS)]


class WrittenAnswers(MessageForm):
    """The answers as they are written."""

    grouper: str | None = Field(None, max_length=256)
    algorithm: str | None = Field(None, max_length=256)
    counts: dict[str, PartitionCount] = Field(default_factory=dict, max_length=_MOST_STREAMS)
    tasks: str = ""  # packed: partition to task
    initial_indexes: str = ""  # packed: current/initial/index to initial index


def written_answers(answers: UserAnswers) -> WrittenAnswers:
    """The written form."""
    tasks = {str(partition): (task,) for partition, task in answers.tasks.items()}
    indexes = {
        f"{current}/{initial}/{index}": (str(answer),)
        for (current, initial), answered in answers.initial_indexes.items()
        for index, answer in answered.items()
    }
    return WrittenAnswers(
        grouper=answers.functions.grouper,
        algorithm=answers.functions.algorithm,
        counts=dict(sorted(answers.counts.items())),
        tasks=pack_rows(tasks, 1) if tasks else "",
        initial_indexes=pack_rows(indexes, 1) if indexes else "",
    )


def answers_in(form: WrittenAnswers) -> UserAnswers:
    """The answers that were written; a MessageUnreadableError where the form is nothing like that."""
    tasks = unpack_rows(form.tasks, 1, MOST_PARTITIONS) if form.tasks else {}
    indexes = unpack_rows(form.initial_indexes, 1, MOST_PARTITIONS) if form.initial_indexes else {}
    initial_indexes: dict[Growth, dict[int, int]] = {}
    try:
        for name, (answer,) in indexes.items():
            current, initial, index = map(int, name.split("/"))
            initial_indexes.setdefault((current, initial), {})[index] = int(answer or "")
        task_of = {Partition.parse(name): task or "" for name, (task,) in tasks.items()}
    except ValueError as error:
        raise _damaged(str(error)) from None
    if any(not task or len(task) > LONGEST_TASK_NAME for task in task_of.values()):
        raise _damaged("a task without a name, or with one that is too long")
    return UserAnswers(OwnFunctions(form.grouper, form.algorithm), form.counts, task_of, initial_indexes)


def _damaged(what: str) -> MessageUnreadableError:
    return damaged_message(_PART, f"answers of the app's functions: {what}")


KIND: Final = "report"
MOST_WARNINGS: Final = 20
LONGEST_MESSAGE: Final = 2_000

Count = Annotated[int, Field(ge=0, le=2**53)]
"""Larger numbers are no numbers to every reader of JSON, and none counts so far."""


class _Warned(MessageForm):
    reason: str
    path: str = ""
    message: str = ""
    model_version: int = 0


class _Verdict(MessageForm):
    generation: Count = 0
    refusals: list[_Warned] = Field(default_factory=list)


class _Progress(MessageForm):
    lag: Count = 0
    restoring: Count = 0
    utilization: Count | None = None


class _Written(MessageForm):
    state: str
    driver: str = ""
    incarnation: Count = 0
    spec_hash: str = ""
    generation: Count = 0
    run_id: str = ""
    model_version: Count = 0
    processors: Count = 0  # for those who only look
    binding: str = ""
    moved: str = ""
    counts: dict[str, Count] = Field(default_factory=dict)
    ends: dict[str, list[Count]] = Field(default_factory=dict)  # stream: position by index, from 0 on
    layout: str = ""
    progress: _Progress = _Progress()
    warnings: list[_Warned] = Field(default_factory=list)
    stores: str = ""
    answers: WrittenAnswers | None = None
    start: dict[str, Annotated[float, Field(ge=0, le=2**53)]] = Field(default_factory=dict)
    verdict: _Verdict | None = None


def encode_report(report: Report) -> str:
    """As it is sent; equal reports are equal texts."""
    ends: dict[str, list[int]] = {}
    for partition, end in sorted(report.ends.items()):
        stream_ends = ends.setdefault(partition.stream, [])
        if partition.index != len(stream_ends):
            raise ValueError(f"the ends of {partition.stream} leave out partition {len(stream_ends)}")
        stream_ends.append(end)
    seats = {name: (seat.location, seat.executor) for name, seat in report.binding.items()}
    form = _Written(
        state=report.state,
        driver=report.driver,
        incarnation=report.incarnation,
        spec_hash=report.spec_hash,
        generation=report.generation,
        run_id=report.run_id,
        model_version=report.model_version,
        processors=len(seats),
        binding=pack_rows(seats, 2) if seats else "",
        moved=pack_rows({task: (name,) for task, name in report.moved.items()}, 1) if report.moved else "",
        counts=dict(sorted(report.counts.items())),
        ends=ends,
        layout=encode_layout(report.layout) if report.layout else "",
        progress=_Progress(
            lag=report.progress.lag,
            restoring=report.progress.restoring,
            utilization=report.progress.utilization,
        ),
        warnings=_written_warnings(report.warnings),
        stores=bytes_to_text(pack_store_history(report.stores)) if report.stores.places else "",
        answers=written_answers(report.answers) if report.answers else None,
        start=dict(report.start),
        verdict=_written_verdict(report.verdict) if report.verdict else None,
    )
    return write_message(KIND, form)


def decode_report(text: str) -> Report:
    """As it was sent; an UnreadableError where any part of it cannot be trusted."""
    form = read_message(KIND, _Written, text)
    try:
        state = DriverState(form.state)
    except ValueError as error:
        raise damaged_message(KIND, str(error)) from None
    seats = unpack_rows(form.binding, 2, MOST_PROCESSORS) if form.binding else {}
    moved = unpack_rows(form.moved, 1, MOST_PARTITIONS) if form.moved else {}
    return Report(
        state=state,
        driver=form.driver,
        incarnation=form.incarnation,
        spec_hash=form.spec_hash,
        generation=form.generation,
        run_id=form.run_id,
        model_version=form.model_version,
        binding={
            name: ExecutorBinding(location, executor or "") for name, (location, executor) in seats.items()
        },
        moved={task: name or "" for task, (name,) in moved.items()},
        counts=form.counts,
        ends={
            Partition(stream, at): end for stream, ends in form.ends.items() for at, end in enumerate(ends)
        },
        layout=layout_in(form.layout),
        progress=Progress(form.progress.lag, form.progress.restoring, form.progress.utilization),
        warnings=_warnings_in(form.warnings),
        stores=unpack_store_history(text_to_bytes(form.stores)) if form.stores else StoreHistory(),
        answers=answers_in(form.answers) if form.answers else None,
        start=form.start,
        verdict=CandidateVerdict(form.verdict.generation, _warnings_in(form.verdict.refusals))
        if form.verdict
        else None,
    )


def _written_verdict(verdict: CandidateVerdict) -> _Verdict:
    return _Verdict(generation=verdict.generation, refusals=_written_warnings(verdict.refusals))


def _written_warnings(warnings: Iterable[ReportedWarning]) -> list[_Warned]:
    return [
        _Warned(
            reason=warning.reason,
            path=warning.path,
            message=warning.message[:LONGEST_MESSAGE],
            model_version=warning.model_version,
        )
        for warning in islice(warnings, MOST_WARNINGS)
    ]


def _warnings_in(warnings: Iterable[_Warned]) -> tuple[ReportedWarning, ...]:
    return tuple(
        ReportedWarning(warning.reason, warning.path, warning.message, warning.model_version)
        for warning in warnings
    )
