"""The records that are known to be bad, and the search for another when batches go on failing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from streamapp_runtime.driver.bad_records.bisection import BadRecord, Trial, find_bad_record
from streamapp_runtime.driver.failures import FATAL, FinalFailureError
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange

FAILURES_BEFORE: Final = 2
"""A batch that fails once may have met a lost executor; one that fails again is looked into."""

ExpressionSearch = Callable[[Sequence[PendingRange]], Mapping[tuple[str, int, int], str]]
"""Records on which a batch fails, and why: all, some, or none where it cannot tell."""

KnownBadRecord = tuple[str, int, int, str]
"""Stream, partition and offset of a bad record, and why it is one."""


@dataclass(slots=True)
class BadRecordSearch:
    """What is suspected of a batch's failure, and what was found guilty."""

    on_bad_record: str
    bad: dict[tuple[str, int, int], str] = field(default_factory=dict)  # stream, partition, offset: why
    suspects: tuple[PendingRange, ...] = ()  # what the batch that failed last was given

    def due(self, failures: int) -> bool:
        """Whether so many failures in a row are to be looked into."""
        return bool(self.suspects) and failures >= FAILURES_BEFORE

    def found(self, naming: ExpressionSearch, trial: Trial) -> Iterator[None]:
        """Blame records, each time some are found; HopelessError where the app wants to end at such a record.

        Those on which expressions fail are named in one trial; for what else fails, halves are tried.
        """
        suspects, self.suspects = self.suspects, ()
        while fresh := {place: why for place, why in naming(suspects).items() if place not in self.bad}:
            if self.on_bad_record == "fail":
                raise FinalFailureError(f"{FATAL['bad']}: {BadRecord(*min(fresh), fresh[min(fresh)])}")
            self.bad |= fresh
            yield
        while self._found(suspects, trial):
            yield

    def _found(self, suspects: Sequence[PendingRange], trial: Trial) -> bool:
        """Whether one more record is to blame; HopelessError where the app wants to end at such a record."""
        found = find_bad_record(suspects, trial)
        if found is None:
            return False
        if self.on_bad_record == "fail":
            raise FinalFailureError(f"{FATAL['bad']}: {found}")
        if found.place in self.bad:
            return False  # it fails without this record as well: none is to blame, and the failures count
        self.bad[found.place] = found.reason
        return True

    def known(self, given: Iterable[PendingRange]) -> tuple[KnownBadRecord, ...]:
        """The bad records of the partitions that these are of."""
        asked_for = {(d.partition.stream, d.partition.index) for d in given}
        return tuple((*place, why) for place, why in self.bad.items() if place[:2] in asked_for)

    def suspect(self, given: Sequence[PendingRange]) -> None:
        """Note what a batch is given; one without records casts no doubt on anything."""
        self.suspects = tuple(given) or self.suspects
