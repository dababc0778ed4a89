"""The executors of the lanes: waited for, bound, and given what runs their batches."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock

from pyspark import RDD, SparkContext

from streamapp_runtime.driver.executors.batch_exchange import BatchExchange
from streamapp_runtime.driver.executors.binding import bind_executors, cannot_come
from streamapp_runtime.driver.executors.executor_locations import ExecutorLocations, no_locations
from streamapp_runtime.driver.executors.lane_jobs import SparkLaneJobs
from streamapp_runtime.driver.executors.lane_partitions import lane_elements, lane_identities
from streamapp_runtime.driver.executors.resident_lanes import ResidentLanes
from streamapp_runtime.driver.executors.session_lanes import (
    answering_executors,
    session_lanes,
)
from streamapp_runtime.driver.spark.spark_session import ExecutorsMissingError, in_one_process, live_executors
from streamapp_runtime.lanes.connection.lane_address import LaneAddress
from streamapp_runtime.lanes.worker import PackedProgram
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.program import Program

BINDING_ATTEMPTS = 40
_PAUSE_SECONDS = 0.25
_LOCATION_SECONDS = 5.0
"""How long the location of an executor is waited for that is there already."""


@dataclass(slots=True)
class LaneExecutors:
    """The lane that each executor runs. Spark's list may lag behind: what lanes say of themselves counts."""

    spark: SparkContext
    program: Program
    setup: WorkerSetup
    pause: Callable[[float], None] = time.sleep
    executor_ids: dict[str, str] = field(
        default_factory=dict
    )  # by processor, as workers report it; empty where there is one process
    bound: dict[str, str] = field(default_factory=dict)  # processor -> executor, as it was last
    store_locations: Mapping[str, str | None] = field(
        default_factory=dict
    )  # processor -> where its stores are
    locations: ExecutorLocations = no_locations
    loss_seconds: float | None = None  # how long Spark may take to say what became of a lane
    _hosts: Sequence[tuple[str, str]] | None = None  # (host, id) of the executors of the present binding
    _returning: Lock = field(default_factory=Lock)
    _address: LaneAddress | None = None  # by which lanes of the present binding reach the driver

    def present(self, processors: Sequence[str]) -> tuple[str, ...]:
        """The processors that have an executor now."""
        if in_one_process(self.spark):
            return tuple(processors)
        return tuple(self._bound(answering_executors(self.spark), processors))

    def locations_of(self, processors: Sequence[str]) -> dict[str, str | None]:
        """The locations where processors would run now; those of their stores where these are not known."""
        locations: dict[str, str | None] = {name: self.store_locations.get(name) for name in processors}
        if not in_one_process(self.spark):
            live = answering_executors(self.spark)
            at = self.locations(live)
            bound = self._bound(live, processors)
            locations |= {name: at[executor] for name, executor in bound.items() if executor in at}
        return locations

    def wait_for(self, processors: Sequence[str], seconds: float) -> tuple[str, ...]:
        """The processors that have an executor: all, or those that came in time. None is an error."""
        deadline = time.monotonic() + seconds
        while len(self.present(processors)) < len(processors) and time.monotonic() < deadline:
            if self.cannot_come(processors):
                break
            time.sleep(0.05)
        location_deadline = min(deadline, time.monotonic() + _LOCATION_SECONDS)
        while self._locations_missing() and time.monotonic() < location_deadline:
            time.sleep(0.05)
        present = self.present(processors)
        if not present:
            raise ExecutorsMissingError(f"none of {len(processors)} executors came within {seconds:g} s")
        return present

    def has_had(self, count: int) -> bool:
        """True if so many executors had their workers before the first lane was bound, as with a standby."""
        return len(session_lanes(self.spark).identities) >= count

    def cannot_come(self, processors: Sequence[str]) -> bool:
        """True if there are executors, and no node has room for any of those that are missing."""
        present, wanted = len(self.present(processors)), len(processors)
        return present < wanted and cannot_come(present, wanted, self.locations.unschedulable())

    def open_exchange(self, processors: Sequence[str], incarnation: int) -> BatchExchange:
        """The exchange that runs all batches; ExecutorsMissingError when lanes cannot be parted."""
        lanes_of_session = session_lanes(self.spark)
        lanes_of_session.close_exchange()
        self._hosts = self._bound_hosts(processors)
        server, self._address = lanes_of_session.server, lanes_of_session.server.bind()
        lanes = lane_elements(self.spark, self._hosts, len(processors))
        jobs = SparkLaneJobs(
            self.spark,
            lanes.mapPartitions(self._packed(incarnation).every_batch),
            len(processors),
            partial(self._returned_lane, incarnation),
            self._lives,
        )
        exchange = ResidentLanes(jobs, processors, server, loss_seconds=self.loss_seconds)
        lanes_of_session.exchange = exchange
        lanes_of_session.look = partial(self._look_for_executors, exchange)
        return exchange

    def _lives(self, processor: str) -> bool:
        """True if the executor of a lane is there."""
        return in_one_process(self.spark) or self.bound.get(processor) in live_executors(self.spark)

    def _look_for_executors(self, exchange: ResidentLanes) -> None:
        """Ask the executors whose reports are awaited.

        Lanes are lost where their executors are silent. They come back when these answer.
        """
        probe, names = session_lanes(self.spark).probe, exchange.awaited
        silent_executors = probe.look([self.bound[name] for name in names if name in self.bound])
        exchange.lose(name for name in names if self.bound.get(name) in silent_executors)

    def _bound_hosts(self, processors: Sequence[str]) -> Sequence[tuple[str, str]]:
        """The executor of each lane as (host, id), no two the same; none where there is one process."""
        if in_one_process(self.spark):
            return ()
        ids: dict[int, str] = {}
        for _ in range(BINDING_ATTEMPTS):
            live = answering_executors(self.spark)
            bound = self._bound(live, processors)
            if len(bound) == len(processors):
                self.bound |= bound
                hosts = [(live[executor], executor) for executor in bound.values()]
                ids = self._identities(hosts)
                if len(set(ids.values())) == len(processors):
                    self.executor_ids = {name: ids[lane] for lane, name in enumerate(processors)}
                    self._note_locations(live)
                    return hosts
            self.pause(_PAUSE_SECONDS)  # an executor is lost, and Spark has not noticed yet
        raise ExecutorsMissingError(f"{len(processors)} lanes share {len(set(ids.values()))} executors")

    def _identities(self, hosts: Sequence[tuple[str, str]]) -> dict[int, str]:
        """On which executor each lane finds itself; known where the workers have just been started for it."""
        lanes, executors = session_lanes(self.spark), [executor for _, executor in hosts]
        if known := lanes.take_identities(executors):
            return dict(enumerate(known))
        with lanes.probe.during(executors):
            return lane_identities(lane_elements(self.spark, hosts, len(hosts)))

    def _returned_lane(self, incarnation: int, number: int, processor: str) -> "RDD[object]":
        """The RDD of a lane whose processor has come back, on the executor that it has now."""
        with self._returning:  # one after the other, so that no two take the same executor
            live = answering_executors(self.spark)
            executor = self._bound(live, sorted({*self.executor_ids, processor})).get(processor)
            if executor is None:
                raise ExecutorsMissingError(f"{processor} has no executor")
            lane = lane_elements(self.spark, [(live[executor], executor)], 1)
            with session_lanes(self.spark).probe.during([executor]):
                (identity,) = lane_identities(lane).values()
            if identity in {one for name, one in self.executor_ids.items() if name != processor}:
                raise ExecutorsMissingError(f"{processor} shares an executor")
            self.bound[processor], self.executor_ids[processor] = executor, identity
            self._note_locations(live)
        return lane.mapPartitions(self._packed(incarnation, number).every_batch)

    def _locations_missing(self) -> bool:
        """True if the location of some executor is not known; pods are labelled a moment late."""
        if self.locations is no_locations or in_one_process(self.spark):
            return False
        live = answering_executors(self.spark)
        return len(self.locations(live)) < len(live)

    def _bound(self, live: Mapping[str, str], processors: Sequence[str]) -> dict[str, str]:
        return bind_executors(self.bound, live, processors, self.store_locations, self.locations(live))

    def _note_locations(self, live: Mapping[str, str]) -> None:
        """From now on a processor's stores are where it works."""
        at = self.locations(live)
        self.store_locations = {
            **self.store_locations,
            **{name: at[one] for name, one in self.bound.items() if one in at},
        }

    def _packed(self, incarnation: int, first_lane: int = 0) -> PackedProgram:
        if self._address is None:
            raise TypeError("lanes that are not bound serve nothing")
        return PackedProgram.of(self.program, self.setup, incarnation, self._address, first_lane)
