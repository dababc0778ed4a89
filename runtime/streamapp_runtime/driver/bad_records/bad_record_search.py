"""The records that are known to be bad, and the search for another when batches go on failing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from streamapp_runtime.driver.bad_records.bisection import (
    BadRecord,
    Trial,
    TrialFailure,
    find_bad_record,
    next_bad_record,
)
from streamapp_runtime.driver.bad_records.search_watch import SearchWatch
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.status_rules import STATUS_RULES
from streamapp_runtime.lanes.protocol.batch_orders import KnownRejection
from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.lanes.records.rejection_policy import RejectionPolicy

FAILURES_BEFORE: Final = 2
"""A batch that fails once may have met a lost executor; one that fails again is looked into."""

_SENTENCES: Final[Mapping[RejectionCause, str]] = {
    RejectionCause.RECORD: STATUS_RULES[TaskStatus.BAD].sentence,
    RejectionCause.CODE: "the app's own code fails on a record",
}
"""What a run says that ends at a bad record."""

ExpressionSearch = Callable[[Sequence[PendingRange]], Mapping[tuple[str, int, int], str]]
"""Records on which a batch fails, and why: all, some, or none where it cannot tell."""


@dataclass(slots=True)
class BadRecordSearch:
    """The records suspected of a batch's failure, and those known to be bad."""

    policies: Mapping[RejectionCause, RejectionPolicy]
    key_of: Callable[[tuple[str, int, int]], bytes | None]  # by stream, partition and offset
    watch: SearchWatch
    bad: dict[tuple[str, int, int], BadRecord] = field(default_factory=dict)  # stream, partition, offset
    suspects: tuple[PendingRange, ...] = ()  # what the batch that failed last was given, and is not read yet
    _attempted: tuple[PendingRange, ...] = ()  # what the batch in hand was given

    def due(self, failures: int) -> bool:
        """True if so many failures in a row are to be looked into."""
        return bool(self.suspects) and failures >= FAILURES_BEFORE

    def search(self, expressions: ExpressionSearch, trial: Trial) -> Iterator[None]:
        """Blame records, each time some are found; FinalFailureError where the app ends at such a record.

        Those on which expressions fail are named in one trial; for what else fails, halves are tried. What
        was found is known where the watch ends the search.
        """
        suspects, known = self.suspects, len(self.bad)

        def watched(ranges: Sequence[PendingRange]) -> TrialFailure | None:
            self.watch.before_trial(ranges, len(self.bad) - known)
            return trial(ranges)

        self.watch.begin(suspects)
        while True:
            self.watch.before_trial(suspects, len(self.bad) - known)
            fresh = {place: why for place, why in expressions(suspects).items() if place not in self.bad}
            if not fresh:
                break
            for place in sorted(fresh):
                self._blame(BadRecord(*place, fresh[place]))
            yield
        while self._search_by_halves(suspects, watched):
            yield
        self.suspects = ()

    def _search_by_halves(self, suspects: Sequence[PendingRange], trial: Trial) -> bool:
        """True if more records are to blame; FinalFailureError where the app ends at such a record."""
        record = find_bad_record(suspects, trial)
        if record is None:
            return False
        if record.place in self.bad:
            return False  # it fails without this record as well: none is to blame, and the failures count
        self._blame(record)
        for _ in range(self.policies[record.cause].limit.in_a_row):
            record = next_bad_record(record, suspects, trial)
            if record is None or record.place in self.bad:
                break
            self._blame(record)
        return True

    def _blame(self, record: BadRecord) -> None:
        """Note a bad record; FinalFailureError where the app ends at one."""
        if self.policies[record.cause].action == "fail":
            raise FinalFailureError(f"{_SENTENCES[record.cause]}: {record.text(self.key_of(record.place))}")
        self.bad[record.place] = record

    def known(self, ranges: Iterable[PendingRange]) -> tuple[KnownRejection, ...]:
        """The bad records of the partitions that these are of."""
        asked_for = {(d.partition.stream, d.partition.index) for d in ranges}
        return tuple(
            KnownRejection(*place, record.reason, record.cause)
            for place, record in self.bad.items()
            if place[:2] in asked_for
        )

    def begin(self, ranges: Sequence[PendingRange]) -> None:
        """Note what a batch is about to read."""
        self._attempted = tuple(ranges)

    def note_failure(self) -> None:
        """Suspect what the batch was given; one without records casts no doubt on anything."""
        self.suspects, self._attempted = self._attempted or self.suspects, ()

    def note_success(self, pending: Iterable[PendingRange]) -> bool:
        """True if nothing is suspected any more: a batch that read other records proves nothing of those.

        `pending` is what could be read when the batch began.
        """
        if self._attempted:
            unread = {(one.task, one.partition): one.start for one in pending}
            unread |= {(one.task, one.partition): one.end for one in self._attempted}
            left = (
                replace(one, start=max(one.start, unread.get((one.task, one.partition), one.end)))
                for one in self.suspects
            )
            self.suspects, self._attempted = tuple(one for one in left if one.lag > 0), ()
        return not self.suspects

    def forget_suspects(self) -> None:
        """Suspect nothing: other tasks read the partitions now."""
        self.suspects = self._attempted = ()
