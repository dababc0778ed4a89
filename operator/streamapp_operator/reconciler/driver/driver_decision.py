"""Decides about the driver, from the generation that is to run and its model."""

from dataclasses import dataclass, replace

from streamapp.author.app_streams import is_embedded
from streamapp.spec.resource.field_changes import changes, paths_with_effect
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.value_types.durations import milliseconds
from streamapp_operator.controller.client.resource_kinds import SERVICE_ACCOUNT
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.driver.driver_actions import DriverAction
from streamapp_operator.reconciler.driver.driver_endings import RestartLimits, observe_ending, restart_limits
from streamapp_operator.reconciler.driver.driver_history import (
    DriverHistory,
    DriverOutcome,
    history_from_status,
    with_newest_driver,
)
from streamapp_operator.reconciler.driver.failed_start import (
    StartObstacle,
    ending_obstacle,
    refused_start,
    start_obstacle,
)
from streamapp_operator.reconciler.driver.next_action import (
    DesiredDriver,
    FollowingDriver,
    ObservedPods,
    next_action,
)
from streamapp_operator.reconciler.driver.released_driver import with_former_ended
from streamapp_operator.reconciler.driver.successor import SuccessorDecision, decide_successor
from streamapp_operator.reconciler.facts.facts import Facts, PublishedRun
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState, live_driver
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.configuration_versions import changed_configuration
from streamapp_operator.reconciler.planning.model_update import ModelUpdate
from streamapp_operator.reconciler.planning.pod_room import fits_in_place, shares_claim
from streamapp_operator.reconciler.pods.driver_pod import generation_of

CLOCK_SKEW_SECONDS = 5.0
"""By how much the clocks of two API servers may differ, which write the times at which objects were made."""
SETTLE_SECONDS = 5.0
"""Seconds to wait after a growth, so that topics which grow together cause one restart."""


@dataclass(frozen=True, slots=True)
class DriverDecision:
    """The driver's history, the next action and its reasons."""

    history: DriverHistory
    action: DriverAction
    pod: PodState | None  # the newest driver that has not ended
    successor: SuccessorDecision
    restart: tuple[str, ...] = ()  # why the running driver has to be replaced
    finished: ConditionReason | None = None  # why no further driver starts
    seconds_to_wait: float | None = None  # seconds until a pending growth is acted on
    obstacle: StartObstacle | None = None  # what keeps the generation that is to run from its first batch

    @property
    def failed_start(self) -> StartObstacle | None:
        """Why the generation that is to run is refused: its driver cannot start."""
        has_failed = self.obstacle is not None and self.obstacle.seconds_left == 0
        return self.obstacle if has_failed else None


def decide_driver(
    facts: Facts, target: AcceptedGeneration | None, model: ModelUpdate | None
) -> DriverDecision:
    """Decide the next action."""
    app = target.accepted.app if target else facts.app.newest.app
    limit = restart_limits(app.spec.restart_policy) if app else default_restart_limits()
    history = _failures_reset(facts.run, _observed_history(facts, limit), target)
    pod = live_driver(facts.pods.drivers)
    finished = _finished_reason(facts.run, history, target, limit)
    restart, seconds_to_wait = _restart_reasons(facts, target, model, pod)
    desired = _desired_driver(facts, target, finished, restart, pod)
    observed = ObservedPods(
        facts.pods.drivers,
        tuple(executor for executor in facts.pods.executors if executor.life is not PodLifecycle.ENDED),
        facts.pods.successors,
        facts.pods.early_executors,
        facts.pods.missing_executors,
        facts.pods.nodes,
        facts.now,
        milliseconds(app.spec.driver.lost_timeout) / 1000 if app else 300.0,
        driver_works=_works(facts.run, pod),
        refused_start=refused_start(facts.pods.refused_pod) if facts.pods.refused_pod else None,
        silent_since=facts.pods.silent_since,
    )
    successor = decide_successor(desired, history, observed, limit)
    is_ready = successor.standby is not None and successor.standby.ready
    following = FollowingDriver(successor.incarnation, successor.is_awaited, is_ready)
    action = next_action(desired, history, observed, limit, following)
    obstacle = _launch_obstacle(facts, target, history, pod, observed)
    if desired.is_edit and successor.is_awaited:
        obstacle = successor.obstacle
    return DriverDecision(history, action, pod, successor, restart, finished, seconds_to_wait, obstacle)


def _launch_obstacle(
    facts: Facts,
    target: AcceptedGeneration | None,
    history: DriverHistory,
    pod: PodState | None,
    observed: ObservedPods,
) -> StartObstacle | None:
    """The obstacle between the driver of a generation that has never run and its first batch.

    None where it may take as long as it wants, for no other generation could run.
    It starts without a trial beside another driver where there is no room for both, or none was there.
    """
    if target is None or target.ran or not _has_fallback(facts.run, target):
        return None
    if pod is None:
        last, ended = history.last, facts.pods.drivers[-1] if facts.pods.drivers else None
        if ended is None or last is None or last.generation != target.generation:
            return None
        if last.outcome is not DriverOutcome.RETRY:
            return None
        return ending_obstacle(ended, history.failures)
    if generation_of(pod.manifest) != target.generation or _works(facts.run, pod):
        return None
    executors = [executor for executor in observed.executors if executor.owner_pod in {"", pod.uid}]
    since = history.last.at if history.last is not None else 0.0
    missing = facts.pods.missing_executors.get(pod.uid)
    obstacle = start_obstacle(
        replace(pod, ready=False), executors, facts.now, missing=missing, not_before=since
    )
    return obstacle if obstacle is not None and pod.silent_since is None else None


def _has_fallback(run: PublishedRun, target: AcceptedGeneration) -> bool:
    """True if there is an earlier generation that has run, to go back to."""
    return any(
        earlier.ran and earlier.driver_refusal is None and earlier.generation < target.generation
        for earlier in run.generations
    )


def _works(run: PublishedRun, pod: PodState | None) -> bool:
    """True if the driver has got to its first batch."""
    report = run.report_of(pod)
    return report is not None and report.state.has_batches


def _observed_history(facts: Facts, limit: RestartLimits) -> DriverHistory:
    """The history with how the driver ended that the status names, and with the newest one."""
    recorded = history_from_status(facts.app.status, _copied_incarnation(facts.run))
    drivers = with_former_ended(facts.pods.drivers, facts.now)
    history = observe_ending(recorded, drivers, facts.now, limit)
    newest = with_newest_driver(history, drivers)
    return history if newest is history else observe_ending(newest, drivers, facts.now, limit)


def _copied_incarnation(run: PublishedRun) -> int:
    """The newest incarnation that is known beside the status, which somebody may clear."""
    published = run.desired.incarnation if run.desired else 0
    return max(published, object_names.driver_incarnation(run.report.driver) if run.report else 0)


def default_restart_limits() -> RestartLimits:
    """The limits for an app that cannot be parsed and has no accepted generation: no driver starts."""
    return RestartLimits(5.0, 300.0, 600.0, None)


def _desired_driver(
    facts: Facts,
    target: AcceptedGeneration | None,
    finished: ConditionReason | None,
    restart: tuple[str, ...],
    pod: PodState | None,
) -> DesiredDriver:
    if target is None:
        return DesiredDriver(False, ConditionReason.NOT_ACCEPTED)
    if target.accepted.app.spec.suspend:
        return DesiredDriver(False, ConditionReason.SUSPENDED)
    if finished is not None:
        return DesiredDriver(False, finished)
    # An embedded log is opened by one process, and its volume mounted by one pod.
    overlaps = not is_embedded(target.accepted.app)
    reason = restart[0] if restart else ""
    since = facts.condition_since("Progressing", "True", reason)
    spec = target.accepted.app.spec
    former = facts.run.accepted_generation(generation_of(pod.manifest)) if pod is not None else None
    return DesiredDriver(
        True,
        reason,
        since,
        generation=target.generation,
        overlaps=overlaps,
        standby=spec.driver.standby,
        early_executors=spec.state.persistent_volume_claim is None,  # a claim is mounted by one pod
        standby_executors=spec.driver.standby_executors,
        is_edit=reason == ConditionReason.SPEC_CHANGED and not target.ran,
        fits_in_place=former is not None and fits_in_place(facts.app.manifest, target.shape, former.shape),
        shares_volume=former is not None and shares_claim(target.shape, former.shape),
    )


def _failures_reset(
    run: PublishedRun, history: DriverHistory, target: AcceptedGeneration | None
) -> DriverHistory:
    """The history without the failures of a generation that ran differently."""
    last = history.last
    if last is None or target is None or not history.failures:
        return history
    if restarts_between(run, last.generation, target):
        return replace(history, failures=0)
    return history


def _finished_reason(
    run: PublishedRun, history: DriverHistory, target: AcceptedGeneration | None, limit: RestartLimits
) -> ConditionReason | None:
    """Why no further driver starts after the last ending; None where one does."""
    last = history.last
    if last is None or target is None or history.open:
        return None
    policy = target.accepted.app.spec.restart_policy.type
    runs_the_same = not restarts_between(run, last.generation, target)
    if last.outcome is DriverOutcome.DONE and policy != "Always" and runs_the_same:
        return ConditionReason.COMPLETED
    if last.outcome is DriverOutcome.CONFIG and last.generation == target.generation:
        return ConditionReason.DRIVER_FAILED
    if last.outcome is DriverOutcome.RETRY and history.failures:
        restarts_spent = limit.most is not None and history.failures > limit.most
        if policy == "Never" or restarts_spent:
            return ConditionReason.RESTARTS_EXHAUSTED
    return None


def _restart_reasons(
    facts: Facts, target: AcceptedGeneration | None, model: ModelUpdate | None, pod: PodState | None
) -> tuple[tuple[str, ...], float | None]:
    """Why the running driver has to be replaced: the reason first, then details; or the seconds to wait."""
    if pod is None or target is None:
        return (), None
    if reasons := _outdated(facts, target, pod):
        return reasons, None
    is_live = target.accepted.app.spec.on_partition_change == "live"
    if model is None or not model.tasks_changed or is_live or _has_no_model(facts.run, pod):
        return (), None
    if not model.grown:
        return (ConditionReason.MODEL_CHANGED,), None
    since = facts.condition_since("Progressing", "True", ConditionReason.PARTITIONS_GREW)
    seconds_left = SETTLE_SECONDS if since is None else since + SETTLE_SECONDS - facts.now
    return ((), seconds_left) if seconds_left > 0 else ((ConditionReason.PARTITIONS_GREW, *model.grown), None)


def _outdated(facts: Facts, target: AcceptedGeneration, pod: PodState) -> tuple[str, ...]:
    """Why the driver cannot go on, or is not to, as it was started."""
    if paths := restarts_between(facts.run, generation_of(pod.manifest), target):
        return (ConditionReason.SPEC_CHANGED, *paths)
    if _account_replaced(facts, pod):
        return (ConditionReason.ACCOUNT_REPLACED, "its service account was deleted and recreated")
    changed = changed_configuration(pod.manifest, facts.cluster.configuration)
    if changed and target.accepted.app.spec.on_configuration_change == "restart":
        return (ConditionReason.CONFIGURATION_CHANGED, *changed)
    return ()


def _account_replaced(facts: Facts, pod: PodState) -> bool:
    """True if the driver's account is younger than its pod, whose token is void then."""
    account = facts.cluster.driver_objects.get(
        (SERVICE_ACCOUNT.name, object_names.driver_account(facts.app.name))
    )
    if account is None or pod.manifest["spec"].get("serviceAccountName") != account["metadata"]["name"]:
        return False
    made_at = parse_timestamp(account["metadata"].get("creationTimestamp"))
    return made_at is not None and made_at > pod.made_at + CLOCK_SKEW_SECONDS


def _has_no_model(run: PublishedRun, pod: PodState) -> bool:
    """True if the driver runs no published model: it plans for itself, or the model contradicts its state."""
    if run.desired is None or run.desired.wanted.model is None:
        return True
    report = run.report_of(pod)
    return report is not None and report.model_version == 0


def restarts_between(run: PublishedRun, generation: int, target: AcceptedGeneration) -> tuple[str, ...]:
    """The changes that require a restart of a generation's driver; empty where the driver may continue."""
    if generation == target.generation:
        return ()
    ran_generation = run.accepted_generation(generation)
    if ran_generation is None:
        return ("what it runs is not known any more",)
    spec_changes = changes(ran_generation.accepted.app, target.accepted.app)
    return paths_with_effect(spec_changes, Effect.RESTART)
