"""What is wanted of the driver, given the generation that is to run and the model for it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamapp.spec.resource.field_changes import changes, paths_with_effect
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.value_types.durations import milliseconds
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.driver.driver_actions import DriverAction
from streamapp_operator.reconciler.driver.driver_endings import RestartLimits, observe_ending, restart_limits
from streamapp_operator.reconciler.driver.driver_history import (
    DriverHistory,
    DriverOutcome,
    history_from_status,
)
from streamapp_operator.reconciler.driver.next_action import DesiredDriver, ObservedPods, next_action
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.planning.model_update import ModelUpdate
from streamapp_operator.reconciler.pods.driver_pod import generation_of

SETTLE_SECONDS = 5.0
"""Topics that grow together are taken up together."""


@dataclass(frozen=True, slots=True)
class DriverDecision:
    """The driver's past, what to do next, and in words why."""

    history: DriverHistory
    move: DriverAction
    pod: PodState | None  # the newest driver that has not ended
    restart: tuple[str, ...] = ()  # why the one that lives has to be replaced
    over: ConditionReason | None = None  # why no driver comes any more: completed, or out of restarts
    hold: float | None = None  # seconds until something that is due now is acted on


def decide_driver(
    facts: Facts, target: AcceptedGeneration | None, modelled: ModelUpdate | None
) -> DriverDecision:
    """The next move."""
    app = target.accepted.app if target else facts.newest.app
    limit = restart_limits(app.spec.restart_policy) if app else default_restart_limits()
    kept = history_from_status(facts.status, facts.drivers, facts.desired.incarnation if facts.desired else 0)
    history = observe_ending(kept, facts.drivers, facts.now, limit)
    history = _forgiven(facts, history, target)
    pod = next((one for one in reversed(facts.drivers) if one.life is not PodLifecycle.ENDED), None)
    over = _over(facts, history, target, limit)
    restart, hold = _restart(facts, target, modelled, pod)
    wish = _wish(target, over, restart)
    scene = ObservedPods(
        facts.drivers,
        tuple(one for one in facts.executors if one.life is not PodLifecycle.ENDED),
        facts.nodes,
        facts.now,
        milliseconds(app.spec.driver.lost_timeout) / 1000 if app else 300.0,
    )
    return DriverDecision(history, next_action(wish, history, scene, limit), pod, restart, over, hold)


def default_restart_limits() -> RestartLimits:
    """For an app that cannot be read and has nothing accepted: nothing of it is started anyway."""
    return RestartLimits(5.0, 300.0, 600.0, None)


def _wish(
    target: AcceptedGeneration | None, over: ConditionReason | None, restart: tuple[str, ...]
) -> DesiredDriver:
    if target is None:
        return DesiredDriver(False, ConditionReason.NOT_ACCEPTED)
    if target.accepted.app.spec.suspend:
        return DesiredDriver(False, ConditionReason.SUSPENDED)
    if over is not None:
        return DesiredDriver(False, over)
    return DesiredDriver(True, restart[0] if restart else "")


def _forgiven(facts: Facts, history: DriverHistory, target: AcceptedGeneration | None) -> DriverHistory:
    """Failures of a generation do not count against one that runs otherwise."""
    last = history.last
    if last is None or target is None or not history.failures:
        return history
    if restarts_between(facts, last.generation, target):
        return replace(history, failures=0)
    return history


def _over(
    facts: Facts, history: DriverHistory, target: AcceptedGeneration | None, limit: RestartLimits
) -> ConditionReason | None:
    """Whether the last ending was one after which nothing comes."""
    last = history.last
    if last is None or target is None or history.open:
        return None
    policy = target.accepted.app.spec.restart_policy.type
    same = not restarts_between(facts, last.generation, target)
    if last.outcome is DriverOutcome.DONE and policy != "Always" and same:
        return ConditionReason.COMPLETED
    if last.outcome is DriverOutcome.CONFIG and last.generation == target.generation:
        return ConditionReason.NOT_ACCEPTED
    if last.outcome is DriverOutcome.RETRY and history.failures:
        spent = limit.most is not None and history.failures > limit.most
        if policy == "Never" or spent:
            return ConditionReason.RESTARTS_EXHAUSTED
    return None


def _restart(
    facts: Facts, target: AcceptedGeneration | None, modelled: ModelUpdate | None, pod: PodState | None
) -> tuple[tuple[str, ...], float | None]:
    """Why the driver that lives has to be replaced, the reason first, then what it is about."""
    if pod is None or target is None:
        return (), None
    if paths := restarts_between(facts, generation_of(pod.manifest), target):
        return (ConditionReason.SPEC_CHANGED, *paths), None
    if modelled is None or not modelled.tasks_changed or facts.desired is None:
        return (), None
    if target.accepted.app.spec.on_partition_change == "live" or _waits_for_a_model(facts, pod):
        return (), None
    if not modelled.grown:
        return (ConditionReason.MODEL_CHANGED,), None
    since = _growing_since(facts)
    left = SETTLE_SECONDS if since is None else since + SETTLE_SECONDS - facts.now
    return ((), left) if left > 0 else ((ConditionReason.PARTITIONS_GREW, *modelled.grown), None)


def _waits_for_a_model(facts: Facts, pod: PodState) -> bool:
    """Whether the driver has none of ours yet: it makes its own, or found that ours contradicts the state."""
    if facts.desired is None or facts.desired.wanted.model is None:
        return True
    report = facts.report
    return report is not None and report.driver == pod.name and report.model_version == 0


def _growing_since(facts: Facts) -> float | None:
    conditions: list[Mapping[str, str]] = facts.status.get("conditions") or []
    found = next((one for one in conditions if one["type"] == "Progressing"), None)
    if found is None or found["reason"] != ConditionReason.PARTITIONS_GREW or found["status"] != "True":
        return None
    return parse_timestamp(found["lastTransitionTime"])


def restarts_between(facts: Facts, generation: int, target: AcceptedGeneration) -> tuple[str, ...]:
    """What a driver of one generation would have to be replaced for; nothing where it may go on."""
    if generation == target.generation:
        return ()
    ran = facts.snapshot(generation)
    if ran is None:
        return ("what it runs is not known any more",)
    found = changes(ran.accepted.app, target.accepted.app)
    return paths_with_effect(found, Effect.RESTART)
