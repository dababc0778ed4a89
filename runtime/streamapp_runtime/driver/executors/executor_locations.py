"""Where the executors of an app are: told by their pods, for Spark knows nothing of nodes and claims.

It only saves work. What an executor finds on its disk is looked at by its lanes in any case.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamapp.placement.locations.location_providers import LocationProvider, parse_location_provider
from streamapp.placement.locations.pod_facts import EXECUTOR_ID, pod_facts
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.transport.kubernetes_api import API_ERRORS

Pods = Callable[[], list[dict[str, Any]]]
ExecutorLocations = Callable[[Collection[str]], Mapping[str, str]]
"""Executor -> location, of those that are asked for and known."""
AGAIN_SECONDS = 1.0


def executor_locations(
    pods: Pods, location: str, clock: Callable[[], float] = time.monotonic
) -> ExecutorLocations:
    """The places of an app's executors, told as `placement.location` says; nobody's where it says nothing."""
    of = parse_location_provider(location)
    return no_locations if isinstance(of, Refusal) else PodLocations(pods, of, clock)


def no_locations(living: Collection[str]) -> Mapping[str, str]:
    """The places of executors that are all on one machine."""
    return {}


@dataclass(slots=True)
class PodLocations:
    """The places of executors; one that was seen is not asked for again, since no pod ever moves."""

    pods: Pods
    of: LocationProvider
    clock: Callable[[], float]
    _known: dict[str, str] = field(default_factory=dict)
    _asked: float = float("-inf")

    def __call__(self, living: Collection[str]) -> Mapping[str, str]:
        """Where these executors are, as far as anybody knows."""
        if set(living) - self._known.keys() and self.clock() - self._asked >= AGAIN_SECONDS:
            self._asked = self.clock()
            self._known |= self._told()
        return {name: self._known[name] for name in living if self._known.get(name)}

    def _told(self) -> dict[str, str]:
        try:
            found = [(one["metadata"].get("labels") or {}, self.of(pod_facts(one))) for one in self.pods()]
        except API_ERRORS:
            return {}  # an API server that is away holds nobody up
        return {labels[EXECUTOR_ID]: str(place) for labels, place in found if place and EXECUTOR_ID in labels}
