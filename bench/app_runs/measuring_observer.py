"""The observer of a run that is measured."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.start.launch import Launch


@dataclass(frozen=True, slots=True)
class MeasuringObserver(RunObserver):
    """Hears of the launch and of each batch; a batch that has to be repeated ends the measurement."""

    on_launch: Callable[[], None]
    on_batch: Callable[[BatchResult], None]

    def launched(self, launch: Launch) -> None:
        """Measure from here on."""
        self.on_launch()

    def batch_committed(self, batch: BatchResult) -> None:
        """Measure a batch."""
        self.on_batch(batch)

    def batch_failed(self, why: str) -> None:
        """End the measurement."""
        raise RuntimeError(why)

    def outage(self, notice: OutageNotice) -> None:
        """End the measurement, unless nobody waited for a batch."""
        if notice.of_batch:
            raise RuntimeError(notice.reason)
