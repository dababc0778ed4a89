"""Hosts of lanes, as far as the loop knows them: executors of Spark, or other hosts."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from streamapp_runtime.driver.executors.batch_exchange import BatchExchange
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.program import Program


class LaneHosts(Protocol):
    """The hosts of one model's lanes."""

    executor_ids: dict[str, str]  # by processor, as workers report it; empty where there is one process
    bound: dict[str, str]  # processor -> executor, as it was last
    store_locations: Mapping[str, str | None]  # processor -> where its stores are

    @property
    def program(self) -> Program:
        """The program of the lanes."""

    def present(self, processors: Sequence[str]) -> tuple[str, ...]:
        """The processors that have a host now."""

    def locations_of(self, processors: Sequence[str]) -> dict[str, str | None]:
        """The locations where processors would run now; those of their stores where these are not known."""

    def wait_for(self, processors: Sequence[str], seconds: float) -> tuple[str, ...]:
        """The processors that have a host: all, or those that came in time. None is an error."""

    def has_had(self, count: int) -> bool:
        """True if so many hosts have been there before the first lane was bound."""

    def cannot_come(self, processors: Sequence[str]) -> bool:
        """True if there are hosts, and those that are missing cannot come as things are."""

    def open_exchange(self, processors: Sequence[str], incarnation: int) -> BatchExchange:
        """The exchange that runs every batch from now on."""


class BatchWatcher(Protocol):
    """Watches one batch after the other."""

    def over(self, number: int, seconds: float | None) -> AbstractContextManager[str]:
        """Watch a batch that may take so many seconds; gives where lanes tell of their steps."""


@dataclass(frozen=True, slots=True)
class HostedModel:
    """A model for whose lanes hosts are to be opened."""

    program: Program
    setup: WorkerSetup
    pause: Callable[[float], None]
    bound: dict[str, str]
    store_locations: Mapping[str, str | None]
    locations: ExecutorLocations = field(default=no_locations)
    independent: bool = False  # lanes do not wait for each other


class LaneHosting(Protocol):
    """Opens hosts for lanes, and says how their batches are watched."""

    def hosts(self, model: HostedModel) -> LaneHosts:
        """The hosts of a model's lanes."""

    def watcher(self, slow: Callable[[str], None], waits: Callable[[str, str], None]) -> BatchWatcher:
        """The watcher of batches; `slow` is called while one takes long, `waits` while brokers keep one."""

    @property
    def end_reason(self) -> str:
        """Why no batch can run any more; empty while batches can."""
