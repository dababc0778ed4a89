"""A driver hands over when it has released its lanes, not when its process has ended.

Its last report says that it has settled all batches and closed all stores. What follows takes seconds:
Spark ends, then the JVM, the containers, and the pods of its executors. The successor waits for none of that.
A standby with executors does not wait for those of a driver that has failed, either. Should any of them write
once more, the engine fences it.
"""

from collections.abc import Sequence
from dataclasses import replace

from streamapp.protocol.driver_report import DriverState
from streamapp_operator.reconciler.facts.facts import Facts, PublishedRun
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState, incarnation_of, live_driver
from streamapp_operator.reconciler.pods.driver_pod import has_early_executors


def with_hand_over(facts: Facts) -> Facts:
    """The facts with a driver that has handed over as one that has ended, and without the executors it left.

    So they are where a driver has failed, and the app keeps executors for its standby. Only a successor that
    has executors of its own takes over so early. A claim is mounted by one executor: the last driver's have
    to be gone.
    """
    numbers = [
        incarnation_of(pod)
        for pod in facts.pods.successors
        if pod.ready and has_early_executors(pod.manifest)
    ]
    driver = live_driver(facts.pods.drivers)
    if driver is None:
        return _without_executors_of_failed(facts) if numbers and _keeps_standby_executors(facts) else facts
    if not _has_released(driver, facts.run) or incarnation_of(driver) >= max(numbers, default=0):
        return facts
    drivers = tuple(_ended(pod, facts.now) if pod is driver else pod for pod in facts.pods.drivers)
    executors = tuple(pod for pod in facts.pods.executors if pod.owner_pod != driver.uid)
    return replace(facts, pods=replace(facts.pods, drivers=drivers, executors=executors))


def with_former_ended(drivers: Sequence[PodState], now: float) -> tuple[PodState, ...]:
    """Drivers for a history: one that is being deleted has ended for it, once another one has taken over."""
    newest = max(map(incarnation_of, drivers), default=0)
    return tuple(
        _ended(pod, now) if pod.life is PodLifecycle.LEAVING and incarnation_of(pod) < newest else pod
        for pod in drivers
    )


def _ended(pod: PodState, now: float) -> PodState:
    return replace(pod, life=PodLifecycle.ENDED, ended_at=now)


def _has_released(driver: PodState, run: PublishedRun) -> bool:
    report = run.report_of(driver)
    is_leaving = driver.life is PodLifecycle.LEAVING
    return is_leaving and report is not None and report.state is DriverState.ENDED


def _without_executors_of_failed(facts: Facts) -> Facts:
    """The facts without executors that a driver owned. No driver is left, though a pod of one may be gone."""
    executors = tuple(pod for pod in facts.pods.executors if not pod.owner_pod)
    return replace(facts, pods=replace(facts.pods, executors=executors))


def _keeps_standby_executors(facts: Facts) -> bool:
    """True if the standby has executors with volumes of their own; a folder of a host is both sets'."""
    app = facts.app.newest.app
    return app is not None and app.spec.driver.standby_executors and app.spec.state.host_path is None
