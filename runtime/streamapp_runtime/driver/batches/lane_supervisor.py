"""The lanes of a model: assigned to the processors that are there, fenced, bound, and bound again."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.batches.binding_states import (
    BindingEvent,
    BindingState,
    NextAction,
    is_bound,
    next_action,
    next_state,
)
from streamapp_runtime.driver.batches.run_change import RunChange, lanes_changed
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.remembered_stores import RememberedStores
from streamapp_runtime.driver.executors.batch_exchange import BatchExchange
from streamapp_runtime.driver.executors.lane_assignment import LaneAssignment, Lanes
from streamapp_runtime.driver.executors.lane_hosts import LaneHosts
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

GRACE_SECONDS: Final = 5.0
"""How long the other lanes wait for an executor that is lost: most are replaced by then."""
CHECK_SECONDS: Final = 1.0
"""How often the driver checks whether a processor that is missing has come back."""


@dataclass(slots=True)
class LaneSupervisor:
    """One model's lanes, and the state that they are in."""

    executors: LaneHosts
    run: CurrentRun
    stores: RememberedStores
    changed: Callable[[RunChange], None]  # called when processors are missing, or back
    state: BindingState = BindingState.UNBOUND
    lanes: Lanes = field(init=False)  # those whose processors are there
    assignment: LaneAssignment = field(init=False)
    restoring: frozenset[str] = frozenset()  # tasks whose stores are not yet at their checkpoints
    _reported: Lanes = field(init=False)  # as it was last told to who listens
    _checked: float = 0.0
    _exchange: BatchExchange | None = None  # what batches run; None while lanes are not bound

    def __post_init__(self) -> None:
        launch = self.run.launch
        self.lanes = self._reported = launch.lanes
        self.assignment = LaneAssignment(
            launch.lanes, self._placed, lambda: self.run.settings.rebalance_delay, time.monotonic
        )

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks of the lanes whose processors are there."""
        return frozenset(task for tasks in self.lanes.values() for task in tasks)

    @property
    def bound(self) -> bool:
        """Whether batches may run."""
        return is_bound(self.state)

    @property
    def next_action(self) -> NextAction:
        """What is to be done with the lanes next."""
        return next_action(self.state)

    @property
    def exchange(self) -> BatchExchange:
        """What batches run."""
        if self._exchange is None:
            raise TypeError(f"lanes that are {self.state} run no batch")
        return self._exchange

    def assign(self) -> None:
        """Assign tasks to the processors that are there, those of lost ones too when it is time."""
        settings = self.run.settings
        seconds = 0.0  # for processors that are missing already
        if self.assignment.complete:
            bound_before = bool(self.executors.bound)
            seconds = (
                min(GRACE_SECONDS, settings.rebalance_delay) if bound_before else settings.executor_start
            )
        lanes = self.assignment.lanes(self.executors.wait_for(tuple(self.run.launch.lanes), seconds))
        self._checked = time.monotonic()
        if lanes == self.lanes:
            return
        self.lanes, before, self._reported = lanes, self._reported, self.assignment.assigned
        self.changed(lanes_changed(self.run.launch, before, self.assignment))
        self._advance(BindingEvent.TASKS_MOVED)

    def fence(self) -> None:
        """Raise the incarnation, and read what lanes of earlier ones have committed."""
        self.run.launch.context.ledger.raise_incarnation()
        self._advance(BindingEvent.FENCED)

    def bind(self) -> None:
        """Bind the lanes under the current incarnation; stores are restored in the batches that follow."""
        self._note_restoring(self.tasks)
        launch = self.run.launch
        exchange = self.executors.open_exchange(tuple(self.lanes), launch.context.ledger.incarnation)
        if launch.app.spec.placement.host_affinity:
            at = self.executors.store_locations
            locations = {task: at.get(name) for name, tasks in self.lanes.items() for task in tasks}
            self.stores.note_bound(locations, launch.assignment.tasks, launch.setup.store_specs)
        self._advance(BindingEvent.BOUND)
        self._exchange = exchange
        self._advance(self._stores_event())

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take from reports whose stores are still to be restored."""
        reports = tuple(reports)
        others = self.restoring.difference(report.task for report in reports)
        self._note_restoring(others.union(r.task for r in reports if r.status is TaskStatus.RESTORING))
        self.stores.note_reports(reports, self.run.launch.setup.store_specs)
        self._advance(self._stores_event())

    def fail(self, *, fence: bool) -> None:
        """Have lanes bound anew; `fence` where they may still be writing."""
        self._advance(BindingEvent.FAILED if fence else BindingEvent.MISPLACED)

    def released(self) -> None:
        """Have lanes bound anew that have closed their stores."""
        self._advance(BindingEvent.RELEASED)

    def stale(self) -> bool:
        """While processors are missing: whether one is back, or has been waited for long enough."""
        if self.assignment.complete or time.monotonic() - self._checked < CHECK_SECONDS:
            return False
        self._checked = time.monotonic()
        present = self.executors.present(tuple(self.run.launch.lanes))
        return self.assignment.lanes(present) != self.lanes

    def binding(self) -> dict[str, str]:
        """The executor of each processor that is there; none where lanes run in the driver's own process."""
        bound = self.executors.bound
        return {name: bound[name] for name in self.lanes if name in bound}

    def needed_executors(self) -> tuple[str, ...]:
        """The executors that the model still needs."""
        bound = self.executors.bound
        return tuple(bound[name] for name in self.run.launch.lanes if name in bound)

    def _placed(self, processors: Collection[str], previous: Mapping[str, str]) -> TaskPlacement | Refusal:
        launch, executors = self.run.launch, self.executors
        locations = executors.locations_of(sorted(processors))
        stores = self.stores.positions(launch.setup.store_specs)
        return launch.placed(locations, previous, executors.store_locations, stores)

    def _note_restoring(self, tasks: Iterable[str]) -> None:
        self.restoring = frozenset(tasks)

    def _stores_event(self) -> BindingEvent:
        return BindingEvent.STORES_LEFT if self.restoring else BindingEvent.STORES_RESTORED

    def _advance(self, event: BindingEvent) -> None:
        self.state = next_state(self.state, event)
        if not self.bound and self._exchange is not None:
            self._exchange.close()
            self._exchange = None
