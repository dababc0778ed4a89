"""The records that are known to be bad, and the search for another when batches go on failing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from streamapp_runtime.driver.bad_records.bisection import BadRecord, Trial, find_bad_record
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.status_rules import STATUS_RULES
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

FAILURES_BEFORE: Final = 2
"""A batch that fails once may have met a lost executor; one that fails again is looked into."""

_SENTENCE: Final = STATUS_RULES[TaskStatus.BAD].sentence
"""What a run says that ends at a bad record."""

ExpressionSearch = Callable[[Sequence[PendingRange]], Mapping[tuple[str, int, int], str]]
"""Records on which a batch fails, and why: all, some, or none where it cannot tell."""

KnownBadRecord = tuple[str, int, int, str]
"""Stream, partition and offset of a bad record, and why it is one."""


@dataclass(slots=True)
class BadRecordSearch:
    """What is suspected of a batch's failure, and which records are known to be bad."""

    on_bad_record: str
    bad: dict[tuple[str, int, int], str] = field(default_factory=dict)  # stream, partition, offset: why
    suspects: tuple[PendingRange, ...] = ()  # what the batch that failed last was given

    def due(self, failures: int) -> bool:
        """Whether so many failures in a row are to be looked into."""
        return bool(self.suspects) and failures >= FAILURES_BEFORE

    def search(self, expressions: ExpressionSearch, trial: Trial) -> Iterator[None]:
        """Blame records, each time some are found; FinalFailureError where the app ends at such a record.

        Those on which expressions fail are named in one trial; for what else fails, halves are tried.
        """
        suspects, self.suspects = self.suspects, ()
        while fresh := {place: why for place, why in expressions(suspects).items() if place not in self.bad}:
            if self.on_bad_record == "fail":
                raise FinalFailureError(f"{_SENTENCE}: {BadRecord(*min(fresh), fresh[min(fresh)])}")
            self.bad |= fresh
            yield
        while self._search_by_halves(suspects, trial):
            yield

    def _search_by_halves(self, suspects: Sequence[PendingRange], trial: Trial) -> bool:
        """Whether one more record is to blame; FinalFailureError where the app ends at such a record."""
        record = find_bad_record(suspects, trial)
        if record is None:
            return False
        if self.on_bad_record == "fail":
            raise FinalFailureError(f"{_SENTENCE}: {record}")
        if record.place in self.bad:
            return False  # it fails without this record as well: none is to blame, and the failures count
        self.bad[record.place] = record.reason
        return True

    def known(self, ranges: Iterable[PendingRange]) -> tuple[KnownBadRecord, ...]:
        """The bad records of the partitions that these are of."""
        asked_for = {(d.partition.stream, d.partition.index) for d in ranges}
        return tuple((*place, why) for place, why in self.bad.items() if place[:2] in asked_for)

    def suspect(self, ranges: Sequence[PendingRange]) -> None:
        """Note what a batch reads; one without records casts no doubt on anything."""
        self.suspects = tuple(ranges) or self.suspects
