"""What came of one batch, as everybody hears of it who counts or shows batches."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamapp_runtime.driver.flow import Demand
from streamapp_runtime.lanes.orders import Report
from streamapp_runtime.program.operations import declared


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch did."""

    number: int
    incarnation: int
    seconds: float
    rows_in: int
    rows_out: int
    bytes_in: int
    bad: int
    restoring: int  # tasks that are still bringing back their stores
    restored: int  # changelog entries that were replayed into stores
    lags: Mapping[str, int]  # by stream: records that were there and not given to this batch
    given: Mapping[str, int]  # by stream: records that were given to it
    reports: tuple[Report, ...]

    @property
    def lag(self) -> int:
        """Records that are there and not yet read."""
        return sum(self.lags.values())


def by_stream(found: Iterable[Demand]) -> Counter[str]:
    """How many records of each stream."""
    counted: Counter[str] = Counter()
    for demand in found:
        counted[declared(demand.partition.stream)] += demand.lag
    return counted
