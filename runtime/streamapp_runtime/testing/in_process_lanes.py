"""Lanes in the test's own process: the workers of production, called by the loop itself.

The same operators, stores and commits. What Spark evaluates goes to the JVM that tests share.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from streamapp_runtime.driver.executors.lane_hosts import HostedModel
from streamapp_runtime.expressions.expression_client import ExpressionClient
from streamapp_runtime.lanes.batches.lane_worker import LaneWorker
from streamapp_runtime.lanes.protocol.batch_orders import Orders
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.program.program import Program

_attempts = count(1)


class KilledError(Exception):
    """The app was killed, as a test has asked for."""


@dataclass(slots=True)
class LaneProcesses:
    """The workers of all lanes of one binding, by lane."""

    workers: dict[int, LaneWorker] = field(default_factory=dict)

    def close(self) -> None:
        """End them as the end of their processes would: what is pending is dropped."""
        for worker in self.workers.values():
            worker.close()
        self.workers.clear()


@dataclass(slots=True)
class InProcessExchange:
    """Runs batches of one binding, lane after lane."""

    processes: LaneProcesses
    kills: Callable[[], bool]  # whether this batch is to be killed before it commits

    def run(self, orders: Orders) -> tuple[TaskReport, ...]:
        """Run one batch. Orders go through the codec, so that lanes hear what they hear in production."""
        is_killed = not orders.release and self.kills()
        orders = replace(orders, trial=True) if is_killed else orders
        reports: list[TaskReport] = []
        for lane in range(len(orders.lanes)):
            order = OrderMemory().decode(OrderMemory().encode(orders.of_lane(lane)))
            reports += self.processes.workers[lane].serve(order, next(_attempts))
        if is_killed:
            raise KilledError
        return tuple(reports)

    def close(self) -> None:
        """End the lanes."""
        self.processes.close()


@dataclass(slots=True)
class InProcessHosts:
    """The hosts of one model's lanes, all of which are this process."""

    model: HostedModel
    kills: Callable[[], bool]
    processes: LaneProcesses
    executor_ids: dict[str, str] = field(default_factory=dict)
    bound: dict[str, str] = field(default_factory=dict)
    store_locations: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def program(self) -> Program:
        """The program that lanes run."""
        return self.model.program

    def present(self, processors: Sequence[str]) -> tuple[str, ...]:
        """All of them."""
        return tuple(processors)

    def locations_of(self, processors: Sequence[str]) -> dict[str, str | None]:
        """Nowhere in particular."""
        return dict.fromkeys(processors)

    def wait_for(self, processors: Sequence[str], seconds: float) -> tuple[str, ...]:
        """All of them, at once."""
        return tuple(processors)

    def has_had(self, count: int) -> bool:
        """They are there with this process."""
        return True

    def cannot_come(self, processors: Sequence[str]) -> bool:
        """No scheduler keeps a processor away."""
        return False

    def open_exchange(self, processors: Sequence[str], incarnation: int) -> InProcessExchange:
        """Begin with workers that know nothing."""
        self.processes.close()
        for lane in range(len(processors)):
            client = ExpressionClient(self._server_folder)
            self.processes.workers[lane] = LaneWorker(self.program, self.model.setup, client)
        return InProcessExchange(self.processes, self.kills)

    @staticmethod
    def _server_folder() -> Path:
        from streamapp_runtime.testing.shared_jvm import server_folder

        return server_folder()


class UnwatchedBatches:
    """Nobody ends a batch in which a test has stopped at a breakpoint."""

    def over(self, number: int, seconds: float | None) -> AbstractContextManager[str]:
        """Wait for ever."""
        return nullcontext("")


@dataclass(slots=True)
class InProcessHosting:
    """Lanes in this process."""

    kill_next: bool = False  # whether the next batch with records is killed before it commits
    processes: LaneProcesses = field(default_factory=LaneProcesses)

    def hosts(self, model: HostedModel) -> InProcessHosts:
        """The hosts of a model's lanes."""
        return InProcessHosts(model, self._kills, self.processes)

    def watcher(self, slow: Callable[[str], None], waits: Callable[[str, str], None]) -> UnwatchedBatches:
        """Nobody watches."""
        return UnwatchedBatches()

    @property
    def end_reason(self) -> str:
        """None."""
        return ""

    def _kills(self) -> bool:
        kill, self.kill_next = self.kill_next, False
        return kill
