"""The facts that are known of a run at one moment, as frozen values."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp.protocol.driver_report import ReportedWarning
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition
from streamapp_runtime.driver.page.run_history import HistoryPoint
from streamapp_runtime.driver.page.running_app import RunningApp
from streamapp_runtime.lanes.protocol.rejections import RejectionSample, merged_reasons
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.answering_systems import SilentSystem

MOST_SAMPLES: Final = 20
"""Of records that were left out."""


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """One batch of the last ones."""

    number: int
    at: float  # when it ended, seconds since 1970
    seconds: float
    rows_in: int
    rows_out: int
    steps: tuple[tuple[str, float], ...]  # the longest that any lane took for each


@dataclass(frozen=True, slots=True)
class RunNote:
    """Something that happened."""

    at: float
    kind: str
    text: str
    moved: int = 0
    reasons: tuple[tuple[str, int], ...] = ()  # why so many tasks changed their processor or location


@dataclass(frozen=True, slots=True)
class RemoteCounts:
    """The numbers of keys that a remote table was asked for so far."""

    asked: int = 0
    cached: int = 0
    unanswered: int = 0


@dataclass(frozen=True, slots=True)
class LeftOutRecords:
    """The records that were left out so far."""

    bad: int = 0
    late: Mapping[str, int] = field(default_factory=dict)  # by operator
    rejected: Mapping[tuple[str, str], int] = field(default_factory=dict)  # by stream and reason
    samples: tuple[RejectionSample, ...] = ()  # the newest last

    def after(self, batch: BatchResult, late: Mapping[str, int]) -> "LeftOutRecords":
        """With those of a batch."""
        return LeftOutRecords(
            self.bad + batch.bad,
            Counter(self.late) + Counter(late),
            merged_reasons(self.rejected, batch.rejected),
            (*self.samples, *batch.samples)[-MOST_SAMPLES:],
        )


@dataclass(frozen=True, slots=True)
class RunObstacles:
    """The obstacles of a run: what its rows wait for, and what takes long."""

    missing: frozenset[str] = frozenset()  # processors whose tasks wait for them
    awaited: tuple[str, ...] = ()  # side inputs without a version, for which rows wait
    open_transactions: tuple[OpenTransaction, ...] = ()  # that have been open for long in what is read
    unread: tuple[UnreadPartition, ...] = ()  # that have records and have been passed over for long
    silent: tuple[SilentSystem, ...] = ()  # systems that do not answer, while others are read
    slow: str = ""  # of the batch that runs and takes long
    deliveries: tuple[DeliveryStatus, ...] = ()  # into other systems, one for each; what waits for them


@dataclass(frozen=True, slots=True)
class RunFacts:
    """All of them."""

    now: float  # seconds since 1970
    started: float
    show_values: bool = False
    app: RunningApp | None = None  # None before there is one
    activity: str = ""
    active_since: float = 0.0
    last: BatchResult | None = None  # None where none has ended under this model
    incarnation: int = 0
    reports: Mapping[str, TaskReport] = field(default_factory=dict)  # of each task, the last under this model
    rates_in: Mapping[str, float] = field(default_factory=dict)  # records a second, by stream
    rates_out: Mapping[str, float] = field(default_factory=dict)
    task_rates: Mapping[str, float] = field(default_factory=dict)  # rows read a second, by task
    watermarks_moved: Mapping[str, float] = field(default_factory=dict)  # by stream, seconds since 1970
    history: tuple[HistoryPoint, ...] = ()
    batches: tuple[BatchFacts, ...] = ()
    left_out: LeftOutRecords = field(default_factory=LeftOutRecords)
    remote: Mapping[str, RemoteCounts] = field(default_factory=dict)  # by table
    obstacles: RunObstacles = field(default_factory=RunObstacles)
    notes: tuple[RunNote, ...] = ()
    refused: tuple[ReportedWarning, ...] = ()
