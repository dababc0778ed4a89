"""The lanes of a model: assigned to the processors that are there, fenced, bound, and bound again."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp.author.model import KnownPlacement
from streamapp.backoff import Backoff
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.batches.run_change import RunChange, lanes_changed
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.remembered_stores import RememberedStores
from streamapp_runtime.driver.executors.batch_exchange import BatchExchange, LaneByLaneExchange
from streamapp_runtime.driver.executors.binding_states import (
    BindingEvent,
    BindingState,
    NextAction,
    is_bound,
    is_open,
    next_action,
    next_state,
)
from streamapp_runtime.driver.executors.lane_assignment import LaneAssignment, Lanes, processor_by_task
from streamapp_runtime.driver.executors.lane_hosts import LaneHosts
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

GRACE_SECONDS: Final = 5.0
"""How long the other lanes wait for an executor that is lost: most are replaced by then."""
CHECK_SECONDS: Final = 1.0
"""How often the driver checks whether a processor that is missing has come back."""
START_BACKOFF: Final = Backoff(1.0, 30.0)
"""How long a lane waits at most that ends again and again, before it is started the next time."""


@dataclass(slots=True)
class LaneSupervisor:
    """One model's lanes, and the state that they are in."""

    executors: LaneHosts
    run: CurrentRun
    stores: RememberedStores
    changed: Callable[[RunChange], None]  # called when processors are missing, or back
    trouble: Callable[[str], None]  # called with why a lane that was lost does not come back
    independent: bool = False  # whether lanes can be lost, and come back, while others work
    state: BindingState = BindingState.UNBOUND
    lanes: Lanes = field(init=False)  # those whose processors are there
    assignment: LaneAssignment = field(init=False)
    restoring: frozenset[str] = frozenset()  # tasks whose stores are not yet at their checkpoints
    _reported: Lanes = field(init=False)  # as it was last told to who listens
    _start_error: str = ""  # as it was told last
    _missing_reported: tuple[str, ...] = ()
    _ends: dict[str, int] = field(default_factory=dict)  # by processor: how often its lane ended alone
    _start_at: dict[str, float] = field(default_factory=dict)  # by processor, as time.monotonic says
    _checked: float = 0.0
    _exchange: BatchExchange | None = None  # what batches run; None while lanes are not bound
    _lane_by_lane: LaneByLaneExchange | None = None  # the same, where it gives lanes their orders one by one

    def __post_init__(self) -> None:
        launch = self.run.launch
        self.lanes = self._reported = launch.lanes
        self.assignment = LaneAssignment(launch.lanes, self._placed, self._rebalance_delay, time.monotonic)

    @property
    def tasks(self) -> frozenset[str]:
        """The tasks of the lanes whose processors are there."""
        return frozenset(task for tasks in self.lanes.values() for task in tasks)

    @property
    def bound(self) -> bool:
        """True if batches may run."""
        return is_bound(self.state)

    @property
    def open(self) -> bool:
        """True if there are lanes, even if they wait for a fence."""
        return is_open(self.state)

    @property
    def lost(self) -> frozenset[str]:
        """The processors whose lanes were lost, where others can go on without them."""
        lost = self.independent_exchange.lost if self.independent_exchange else frozenset()
        return lost if lost < self.lanes.keys() else frozenset()

    @property
    def independent_exchange(self) -> LaneByLaneExchange | None:
        """The exchange that gives lanes their orders one by one; None where all run a batch together."""
        return self._lane_by_lane

    @property
    def next_action(self) -> NextAction:
        """The next action with the lanes."""
        return next_action(self.state)

    @property
    def exchange(self) -> BatchExchange:
        """The exchange that runs batches."""
        if self._exchange is None:
            raise TypeError(f"lanes that are {self.state} run no batch")
        return self._exchange

    def assign(self) -> None:
        """Assign tasks to the processors that are there, those of lost ones too when it is time."""
        settings, processors = self.run.settings, tuple(self.run.launch.lanes)
        grace_seconds = min(GRACE_SECONDS, settings.rebalance_delay)
        if not self.assignment.complete:  # the others do not wait for processors that are missing already
            seconds = 0.0
        elif self.executors.bound:
            seconds = grace_seconds
        elif self.executors.has_had(len(processors)) and self.executors.present(processors):
            # All stood by, and one that is missing has been lost since.
            seconds = 0.0 if self.independent else grace_seconds
        else:
            seconds = settings.executor_start
        lanes = self.assignment.lanes(self.executors.wait_for(processors, seconds))
        self._checked = time.monotonic()
        if lanes == self.lanes:
            return
        self.lanes, before, self._reported = lanes, self._reported, self.assignment.assigned
        self._missing_reported = self.assignment.missing
        self.changed(lanes_changed(self.run.launch, before, self.assignment))
        self._advance(BindingEvent.TASKS_MOVED)

    def fence(self) -> None:
        """Raise the incarnation, and read what lanes of earlier ones have committed."""
        self.run.launch.context.ledger.raise_incarnation()
        self._advance(BindingEvent.FENCED)
        if self.bound:  # lanes that were not lost: what their stores hold is to be compared again
            self._note_restoring(self.tasks)

    def bind(self) -> None:
        """Bind the lanes under the current incarnation; stores are restored in the batches that follow."""
        self._note_restoring(self.tasks)
        launch = self.run.launch
        exchange = self.executors.open_exchange(tuple(self.lanes), launch.context.ledger.incarnation)
        self._note_locations(self.lanes)
        self._advance(BindingEvent.BOUND)
        self._exchange = exchange
        self._lane_by_lane = (
            exchange if self.independent and isinstance(exchange, LaneByLaneExchange) else None
        )
        self._advance(self._stores_event())

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take from reports whose stores are still to be restored."""
        reports = tuple(reports)
        others = self.restoring.difference(report.task for report in reports)
        self._note_restoring(others.union(r.task for r in reports if r.status is TaskStatus.RESTORING))
        self.stores.note_reports(reports, self.run.launch.setup.store_specs)
        self._advance(self._stores_event())

    def fail(self, *, fence: bool) -> None:
        """Have lanes bound again; `fence` where they may still be writing."""
        self._advance(BindingEvent.FAILED if fence else BindingEvent.MISPLACED)

    def lose(self, processors: Collection[str]) -> None:
        """Go on without lanes that are lost, once what they may still be writing is fenced."""
        exchange = self.independent_exchange
        if exchange is None:
            raise TypeError("lanes are lost alone only where each is by itself")
        exchange.drop(processors)
        self._go_without(processors)
        self._advance(BindingEvent.LANES_LOST)

    def dismiss(self, processors: Collection[str]) -> None:
        """Go on without idle lanes, which start again: nothing of theirs is written any more."""
        exchange = self.independent_exchange
        if exchange is None:
            raise TypeError("lanes are dismissed alone only where each is by itself")
        exchange.dismiss(processors)
        self._go_without(processors)
        self._note_restoring(self.restoring & self.tasks)
        self._advance(self._stores_event())

    def can_dismiss(self, processors: Collection[str]) -> bool:
        """True if other lanes can go on without these."""
        return self.independent and not self.lanes.keys() <= set(processors)

    def note_success(self, processors: Collection[str]) -> None:
        """Note that lanes have done what they were to do with records."""
        for name in processors:
            self._ends.pop(name, None)

    def released(self) -> None:
        """Have lanes bound again that have closed their stores."""
        self._advance(BindingEvent.RELEASED)

    def stale(self) -> bool:
        """While processors are missing: whether one is back, or has been waited for long enough.

        Lanes that can come back by themselves do, and nothing is stale then.
        """
        self._take_joined()
        is_whole = self.assignment.complete and self.lanes.keys() == self.assignment.assigned.keys()
        if is_whole or time.monotonic() - self._checked < CHECK_SECONDS:
            return False
        self._checked = time.monotonic()
        present = self.executors.present(tuple(self.run.launch.lanes))
        lanes = self.assignment.lanes(present)
        if lanes == self.lanes:
            self._note_change()
            return False
        only_adds = all(lanes.get(name) == tasks for name, tasks in self.lanes.items())
        exchange = self.independent_exchange
        if exchange is None or not only_adds:
            return True
        for name in lanes.keys() - self.lanes.keys():
            if self._checked >= self._start_at.get(name, 0.0):
                exchange.start(name)
        return False

    def _go_without(self, processors: Collection[str]) -> None:
        """Take lanes away; the more often a lane has ended without success, the later it is started again."""
        self._checked = time.monotonic()
        self.lanes = {name: tasks for name, tasks in self.lanes.items() if name not in processors}
        for name in processors:
            ends = self._ends[name] = self._ends.get(name, 0) + 1
            self._start_at[name] = self._checked + START_BACKOFF.seconds(ends)

    def binding(self) -> dict[str, str]:
        """The executor of each processor that is there; none where lanes run in the driver's own process."""
        bound = self.executors.bound
        return {name: bound[name] for name in self.lanes if name in bound}

    def known_placement(self) -> KnownPlacement:
        """The known placement of tasks and their stores, by which the next model is placed."""
        launch, owners = self.run.launch, processor_by_task(self.assignment.assigned)
        if not launch.app.spec.placement.host_affinity:
            return KnownPlacement(launch.model, owners=owners)
        at = self.executors.store_locations
        return KnownPlacement(
            launch.model,
            owners=owners,
            task_locations={task: at.get(owner) for task, owner in owners.items()},
            stores=self.stores.positions(launch.setup.store_specs),
        )

    def needed_executors(self) -> tuple[str, ...]:
        """The executors that the model still needs."""
        bound = self.executors.bound
        return tuple(bound[name] for name in self.run.launch.lanes if name in bound)

    def _take_joined(self) -> None:
        """Take lanes that were started while others worked, and have their stores restored."""
        exchange = self.independent_exchange
        if exchange is None:
            return
        reason = exchange.start_error
        if reason and reason != self._start_error:
            self.trouble(reason)
        self._start_error = reason
        for name in exchange.joined():
            tasks = self.assignment.assigned[name]
            self.lanes = {each: self.assignment.assigned[each] for each in sorted({*self.lanes, name})}
            self._note_locations({name: tasks})
            self._note_restoring(self.restoring.union(tasks))
            self._advance(BindingEvent.STORES_LEFT)
            self._note_change()

    def _note_change(self) -> None:
        """Tell who listens that processors are missing, or back, where that was not told yet."""
        missing = self.assignment.missing
        if missing != self._missing_reported:
            self._missing_reported, before = missing, self._reported
            self._reported = self.assignment.assigned
            self.changed(lanes_changed(self.run.launch, before, self.assignment))

    def _note_locations(self, lanes: Lanes) -> None:
        """Note where the stores of lanes are from now on."""
        launch = self.run.launch
        if launch.app.spec.placement.host_affinity:
            at = self.executors.store_locations
            locations = {task: at.get(name) for name, tasks in lanes.items() for task in tasks}
            self.stores.note_bound(locations, launch.assignment.tasks, launch.setup.store_specs)

    def _rebalance_delay(self) -> float:
        """The seconds that tasks wait for a processor that is missing; none for one that cannot come."""
        cannot_come = self.executors.cannot_come(tuple(self.run.launch.lanes))
        return 0.0 if cannot_come else self.run.settings.rebalance_delay

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
        if not self.open and self._exchange is not None:
            self._exchange.close()
            self._exchange = self._lane_by_lane = None
