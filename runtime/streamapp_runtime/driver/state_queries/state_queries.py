"""Queries of state that wait for the next batch, and their answers: a server asks, the loop has lanes answer.

A query travels with the orders of a batch and is answered before the batch reads a record. Where all lanes
run each batch together, its answers are of one batch: of the same moment for all tasks. Lanes that do not
wait for each other answer as of their own last batches. A snapshot is made by the query for its first page,
and so is of that moment.
"""

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event, Lock
from typing import Final

from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.state_queries.key_owners import tasks_with_keys
from streamapp_runtime.driver.state_queries.open_snapshots import (
    OpenSnapshots,
    SnapshotEndedError,
    TooManySnapshotsError,
)
from streamapp_runtime.driver.state_queries.state_lookup_request import QueryRefusedError, StateLookup
from streamapp_runtime.driver.wake_up import WakeUp
from streamapp_runtime.lanes.protocol.state_query import StateAnswer, StateQuery
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.tables_file import KnownTable, known_tables

MOST_WAITING: Final = 16
"""So many queries wait at a time; each has a thread, and what they ask for travels with every batch."""
QUERY_SECONDS: Final = 10.0
"""How long a query waits for its answer."""


class StateUnavailableError(Exception):
    """A query that may be asked was not answered: why. It may be asked again."""


class UnknownTableError(Exception):
    """The app keeps no table and no operator's state of this name."""


@dataclass(frozen=True, slots=True)
class QueryOrders:
    """The queries that lanes are asked of their state in one batch."""

    by_lane: Mapping[str, tuple[StateQuery, ...]]  # by processor
    snapshots: tuple[int, ...] = ()  # the numbers of those that are being read


@dataclass(slots=True, eq=False)
class _WaitingQuery:
    """A query, and what has been answered so far."""

    lookup: StateLookup
    query: StateQuery
    answered: Event = field(default_factory=Event)
    answers: dict[str, StateAnswer] = field(default_factory=dict)  # by task
    missing: dict[str, str] = field(default_factory=dict)  # by task: why it could not answer
    tasks: frozenset[str] = frozenset()  # whose answers make it complete
    gone: str = ""  # why the snapshot that it is a page of cannot be read any more


@dataclass(slots=True)
class StateQueries:
    """The queries of one run."""

    seconds: float = QUERY_SECONDS
    arrived: WakeUp = field(default_factory=WakeUp)  # a query waits that no batch has been given yet
    _lock: Lock = field(default_factory=Lock)
    _waiting: dict[int, _WaitingQuery] = field(default_factory=dict)
    _number: int = 0
    _launch: Launch | None = None
    _tables: Mapping[str, KnownTable] = field(default_factory=dict)
    _ended: bool = False
    _snapshots: OpenSnapshots = field(default_factory=lambda: OpenSnapshots(time.monotonic))

    @property
    def tables(self) -> Mapping[str, KnownTable]:
        """The tables that can be asked, by name."""
        return self._tables

    def table(self, name: str) -> KnownTable:
        """The table of a name; UnknownTableError, or StateUnavailableError before a model runs."""
        if self._launch is None:
            raise StateUnavailableError("the app is starting")
        if name not in self._tables:
            raise UnknownTableError(name)
        return self._tables[name]

    def begin(self, launch: Launch) -> None:
        """Take queries of this model from now on; those that wait are asked again.

        Tasks and their stores are others, and snapshots are gone.
        """
        with self._lock:
            self._launch, self._tables = launch, known_tables(launch.program, launch.setup)
            self._snapshots.clear()
            for number, waiting in list(self._waiting.items()):
                if waiting.lookup.snapshot:
                    waiting.gone = "the job model of the app has changed"
                    waiting.answered.set()
                    continue
                try:
                    self._waiting[number] = self._new_query(number, waiting.lookup, waiting.answered, 0)
                except (QueryRefusedError, UnknownTableError):
                    waiting.answered.set()

    def end(self) -> None:
        """Answer nothing any more."""
        with self._lock:
            self._ended = True
            for waiting in self._waiting.values():
                waiting.answered.set()

    def ask(self, lookup: StateLookup) -> list[StateAnswer]:
        """The answers of all tasks that can have what is asked for.

        UnknownTableError, QueryRefusedError, SnapshotEndedError, or StateUnavailableError where no
        answer came in time.
        """
        with self._lock:
            if self._ended:
                raise StateUnavailableError("the run is over")
            if self._launch is None:
                raise StateUnavailableError("the app is starting")
            if len(self._waiting) >= MOST_WAITING:
                raise StateUnavailableError(f"{MOST_WAITING} queries are waiting already")
            self._number += 1
            number, answered = self._number, Event()
            self._waiting[number] = self._begun_query(number, lookup, answered)
            self.arrived.set()
        answered.wait(self.seconds)
        with self._lock:
            waiting = self._waiting.pop(number)
            missing_tasks = sorted(waiting.tasks - waiting.answers.keys())
            is_answered = waiting.tasks and not missing_tasks and not waiting.gone
            if waiting.gone or (lookup.begins and not is_answered):
                self._snapshots.end(lookup.snapshot)
            if waiting.gone:
                raise SnapshotEndedError(waiting.gone)
            if not is_answered:
                raise StateUnavailableError(self._reason(waiting, missing_tasks))
            return [waiting.answers[task] for task in sorted(waiting.answers)]

    def end_snapshot(self, name: str) -> None:
        """Let go of a snapshot: all of it was read."""
        with self._lock:
            self._snapshots.end(name)

    def wanted(self, idle_tasks: Collection[str], *, together: bool) -> bool:
        """True if a batch of these tasks would answer something; `together` where no others are at work."""
        if not self._waiting:
            return False
        with self._lock:
            return any(_asked_tasks(each, idle_tasks, together) for each in self._waiting.values())

    def orders(self, lanes: Mapping[str, Collection[str]], *, together: bool) -> QueryOrders:
        """The queries for each of the lanes that are given orders, and the snapshots that are to be kept."""
        with self._lock:
            snapshots = self._snapshots.numbers()
        if not self._waiting:
            return QueryOrders({}, snapshots)
        queries: dict[str, list[StateQuery]] = {}
        idle_tasks = frozenset(task for tasks in lanes.values() for task in tasks)
        with self._lock:
            self.arrived.clear()
            for waiting in self._waiting.values():
                asked_tasks = _asked_tasks(waiting, idle_tasks, together)
                if together and asked_tasks:  # what an earlier batch answered is of another moment
                    waiting.answers.clear()
                for processor, tasks in lanes.items():
                    if own_tasks := tuple(task for task in tasks if task in asked_tasks):
                        queries.setdefault(processor, []).append(replace(waiting.query, tasks=own_tasks))
        by_lane = {processor: tuple(asked) for processor, asked in queries.items()}
        return QueryOrders(by_lane, snapshots)

    def note(self, reports: Iterable[TaskReport]) -> None:
        """Take what lanes have answered."""
        if not self._waiting:
            return
        with self._lock:
            for answer in (answer for report in reports for answer in report.answers):
                waiting = self._waiting.get(answer.number)
                if waiting is None or answer.task not in waiting.tasks:
                    continue
                if answer.gone:
                    waiting.gone = f"{answer.task}: {answer.missing}"
                    waiting.answered.set()
                    continue
                if answer.missing:
                    waiting.missing[answer.task] = answer.missing
                    continue
                waiting.answers[answer.task] = answer
                if waiting.tasks <= waiting.answers.keys():
                    waiting.answered.set()

    def _begun_query(self, number: int, lookup: StateLookup, answered: Event) -> _WaitingQuery:
        """A query with the snapshot that it is about."""
        try:
            snapshot = self._snapshots.number(lookup)
        except TooManySnapshotsError as error:
            raise StateUnavailableError(str(error)) from None
        try:
            return self._new_query(number, lookup, answered, snapshot)
        except (QueryRefusedError, UnknownTableError):
            self._snapshots.end(lookup.snapshot)
            raise

    def _new_query(self, number: int, lookup: StateLookup, answered: Event, snapshot: int) -> _WaitingQuery:
        if self._launch is None:
            raise TypeError("no model runs")
        table = self.table(lookup.table)
        tasks = tasks_with_keys(self._launch, lookup.table, lookup.keys)
        query = lookup.query(table, len(tasks))
        query = replace(query, number=number, snapshot=snapshot, begins=lookup.begins)
        return _WaitingQuery(lookup, query, answered, tasks=tasks)

    def _reason(self, waiting: _WaitingQuery, missing_tasks: list[str]) -> str:
        if self._ended:
            return "the run is over"
        if waiting.lookup.table not in self._tables:
            return f'the app keeps no "{waiting.lookup.table}" any more'
        why = [f"{task}: {waiting.missing[task]}" for task in missing_tasks if task in waiting.missing]
        if why:
            return "; ".join(why)
        return f"no batch has answered for {self.seconds:g} s: `streamapp why` says what the app waits for"


def _asked_tasks(waiting: _WaitingQuery, idle_tasks: Collection[str], together: bool) -> frozenset[str]:
    """The tasks of lanes without orders that are to be asked now."""
    if waiting.answered.is_set():
        return frozenset()
    if together:
        return waiting.tasks if waiting.tasks <= frozenset(idle_tasks) else frozenset()
    return (waiting.tasks - waiting.answers.keys()) & frozenset(idle_tasks)
