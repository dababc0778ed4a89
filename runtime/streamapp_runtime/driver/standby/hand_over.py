"""The end of a driver whose pod is deleted: it runs on until the driver after it is ready to take over.

Kubernetes asks a pod to end and lets it work for its grace period. A driver that is drained away, evicted or
deleted is followed by another one, which takes seconds to start; half of that period is for these.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Thread
from typing import Any, Final

from streamapp.placement.locations.pod_facts import is_ready, is_unschedulable
from streamapp.protocol.message_names import INCARNATION
from streamapp_runtime.driver.executors.executor_locations import Pods
from streamapp_runtime.transport.kubernetes_api import API_ERRORS

POLL_SECONDS: Final = 0.5
CREATION_SECONDS: Final = 3.0
"""How long a driver waits for the next one to be created. An app that is suspended has no next one."""
GRACE_SHARE: Final = 0.5
"""The share of the grace period in which the next driver may get ready; the rest is for the last batch."""


@dataclass(slots=True)
class HandOver:
    """The wait of a driver for its successor, once it was asked to end."""

    drivers: Pods  # the pods of the app's drivers
    incarnation: int  # of this driver
    grace_seconds: float
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep
    _watch: Thread | None = None
    _over: bool = False

    def is_over(self) -> bool:
        """True if the driver is to end now. The first call begins the watch, which is beside the batches."""
        if self._watch is None:
            self._watch = Thread(target=self._await_successor, daemon=True)
            self._watch.start()
        return self._over

    def _await_successor(self) -> None:
        begin = self.clock()
        deadline = begin + GRACE_SHARE * self.grace_seconds
        while self.clock() < deadline:
            try:
                successors = [pod for pod in self.drivers() if incarnation_of(pod) > self.incarnation]
            except API_ERRORS:  # the app is gone with its rights, or nobody can say whether one comes
                break
            if not successors and self.clock() - begin >= CREATION_SECONDS:
                break
            if any(is_ready(pod) or is_unschedulable(pod) for pod in successors):
                break
            self.pause(POLL_SECONDS)
        self._over = True


def incarnation_of(pod: Mapping[str, Any]) -> int:
    """The number of a driver, by its pod's label; 0 for a pod without one."""
    label = (pod["metadata"].get("labels") or {}).get(INCARNATION, "")
    return int(label) if label.isdecimal() else 0
