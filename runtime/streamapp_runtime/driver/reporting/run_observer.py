"""The observers of a run: what each of them may be told, and several of them as one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import LoopObserver
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.driver.imports.table_refreshes import RefreshStatus
from streamapp_runtime.driver.reporting.open_windows import OpenWindows
from streamapp_runtime.driver.start.launch import Launch


class RunObserver(LoopObserver):
    """Told of the events of a loop, and of what is before, between and after its batches."""

    __slots__ = ()

    def import_progressed(self, progress: ImportProgress) -> None:
        """So many rows of a table that the app reads are imported."""

    def tables_refreshed(self, statuses: tuple[RefreshStatus, ...]) -> None:
        """The refreshes of tables are so far now, one of them imported or in trouble."""

    def launched(self, launch: Launch) -> None:
        """This is about to run."""

    def batch_committed(self, batch: BatchResult) -> None:
        """A batch is committed."""

    def idle(self) -> None:
        """There is nothing to read."""

    def deliveries_progressed(self, statuses: tuple[DeliveryStatus, ...]) -> None:
        """All deliveries into other systems are so far now."""

    def deliveries_hindered(self, statuses: tuple[DeliveryStatus, ...]) -> None:
        """These deliveries fail or are full now; none do, where there are none."""

    def windows_left_open(self, waiting: tuple[OpenWindows, ...]) -> None:
        """The run ends, and these windows stay open."""


@dataclass(frozen=True, slots=True)
class RunObservers(RunObserver):
    """Several observers as one: each is told of everything, in their order."""

    observers: Sequence[RunObserver]


def _tell_each(event: str) -> Callable[..., None]:
    def tell(self: RunObservers, *arguments: object) -> None:
        for observer in self.observers:
            getattr(observer, event)(*arguments)

    return tell


for _class in (LoopObserver, RunObserver):
    for _event in vars(_class):
        if not _event.startswith("_"):
            setattr(RunObservers, _event, _tell_each(_event))
