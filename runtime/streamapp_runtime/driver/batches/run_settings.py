"""The model that runs, and the settings that an edit may change, in one place for the whole run."""

from dataclasses import dataclass, replace
from typing import Self

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.driver.start.launch import Launch


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of the batches and of the lanes. Times are seconds."""

    batch_rows: int  # so many records in a batch at most
    batch_bytes: int  # and so many bytes, as far as these can be foreseen
    batch_timeout: float | None  # so long a batch may take; None for as long as it wants
    batch_interval: float  # from the start of one batch with records to that of the next, at least
    batch_latency: float  # so long a record may take from its arrival to its commit, as far as batches allow
    independent_lanes: bool  # whether lanes that stay do not wait for each other, where the app allows that
    copies_paced: bool  # whether broadcast tables are copied seldom, since each copy costs
    executor_start: float  # how long executors are waited for at the start
    rebalance_delay: float  # how long tasks wait for a processor whose executor is lost


def run_settings(app: StreamApp) -> RunSettings:
    """The settings as the app has them."""
    spec = app.spec
    return RunSettings(
        batch_rows=spec.batch.rows,
        batch_bytes=spec.batch.bytes,
        batch_timeout=milliseconds(spec.batch.timeout) / 1000 or None,
        batch_interval=milliseconds(spec.batch.interval) / 1000,
        batch_latency=milliseconds(spec.batch.latency) / 1000,
        independent_lanes=spec.batch.independent_lanes,
        copies_paced=True,
        executor_start=milliseconds(spec.executor.start_timeout) / 1000,
        rebalance_delay=milliseconds(spec.rebalance_delay) / 1000,
    )


@dataclass(slots=True)
class CurrentRun:
    """The launch and the settings of the next batch. Who needs them asks here, and copies nothing."""

    launch: Launch
    settings: RunSettings

    @classmethod
    def of(cls, launch: Launch, *, batch_rows: int | None = None) -> Self:
        """A launch with the settings of its app, whose batches do not wait for more records.

        `batch_rows` is in place of the app's own number.
        """
        settings = run_settings(launch.app)
        return cls(launch, replace(settings, batch_rows=batch_rows or settings.batch_rows, batch_latency=0.0))
