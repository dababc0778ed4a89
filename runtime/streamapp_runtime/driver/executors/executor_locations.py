"""Locations of the executors of an app: read from pods, for Spark knows nothing of nodes and claims.

They only save work. What an executor finds on its disk is looked at by its lanes in any case.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any, Final, Protocol

from streamapp.placement.locations.location_providers import LocationProvider, parse_location_provider
from streamapp.placement.locations.pod_facts import EXECUTOR_ID, is_unschedulable, pod_facts
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.transport.kubernetes_api import API_ERRORS

Pods = Callable[[], list[dict[str, Any]]]
AGAIN_SECONDS = 1.0


class ExecutorLocations(Protocol):
    """The locations of executors, and the number of missing ones that cannot come."""

    def __call__(self, live: Collection[str]) -> Mapping[str, str]:
        """Executor -> location, of those that are asked for and known."""

    def unschedulable(self) -> int:
        """For how many executors that were asked for no node has room, as far as anybody knows."""


def executor_locations(
    pods: Pods,
    location: str,
    clock: Callable[[], float] = time.monotonic,
    user_provider: LocationProvider | None = None,
) -> ExecutorLocations:
    """The locations of an app's executors, read as `placement.location` says; none where it says nothing.

    An app's own provider goes before that.
    """
    provider = user_provider or parse_location_provider(location)
    return no_locations if isinstance(provider, Refusal) else PodLocations(pods, provider, clock)


class OneMachine:
    """The locations of executors that are all on one machine, which has room for all of them."""

    def __call__(self, live: Collection[str]) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def unschedulable(self) -> int:
        """None."""
        return 0


no_locations: Final = OneMachine()


@dataclass(slots=True)
class PodLocations:
    """The locations of executors; one that was seen is not asked for again, since no pod ever moves."""

    pods: Pods
    provider: LocationProvider
    clock: Callable[[], float]
    _known: dict[str, str] = field(default_factory=dict)
    _read_at: float = float("-inf")
    _unschedulable: int = 0
    _counted_at: float = float("-inf")
    _counting: Lock = field(default_factory=Lock)

    def __call__(self, live: Collection[str]) -> Mapping[str, str]:
        """The locations of these executors, as far as anybody knows."""
        if set(live) - self._known.keys() and self.clock() - self._read_at >= AGAIN_SECONDS:
            self._read_at = self.clock()
            self._known |= self._read_pods(set(live) - self._known.keys())
        return {name: self._known[name] for name in live if self._known.get(name)}

    def unschedulable(self) -> int:
        """For how many executors the scheduler has found no node, as of a moment ago.

        The pods are read in a thread: an API server that hangs holds up no batch.
        """
        if self.clock() - self._counted_at >= AGAIN_SECONDS and self._counting.acquire(blocking=False):
            Thread(target=self._count, daemon=True).start()
        return self._unschedulable

    def _count(self) -> None:
        try:
            self._unschedulable = sum(map(is_unschedulable, self.pods()))
        except API_ERRORS:
            self._unschedulable = 0
        finally:
            self._counted_at = self.clock()
            self._counting.release()

    def _read_pods(self, executors: Collection[str]) -> dict[str, str]:
        try:
            pods = self.pods()
        except API_ERRORS:
            return {}  # an API server that is unavailable holds nobody up
        labelled = [(pod, (pod["metadata"].get("labels") or {}).get(EXECUTOR_ID)) for pod in pods]
        places = {
            executor: self.provider(pod_facts(pod)) for pod, executor in labelled if executor in executors
        }
        return {executor: str(place) for executor, place in places.items() if executor and place}
