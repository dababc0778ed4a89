"""From facts to a decision: the steps of a reconcile in order, all of them pure."""

from collections.abc import Iterator
from dataclasses import replace

from streamapp.author.app_streams import is_embedded
from streamapp.author.monitoring import growth_interval
from streamapp.jobmodel.job_model import JobModel
from streamapp.tasks.refusal import Refusal
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_actions import (
    AwaitPods,
    DelayStart,
    HoldStart,
    KeepDriver,
    StartDriver,
    StopDriver,
)
from streamapp_operator.reconciler.driver.driver_decision import decide_driver
from streamapp_operator.reconciler.driver.driver_history import DriverHistory
from streamapp_operator.reconciler.driver.released_driver import with_hand_over
from streamapp_operator.reconciler.driver.start_conditions import hold_start
from streamapp_operator.reconciler.driver.taken_names import names_in_the_way
from streamapp_operator.reconciler.facts.facts import Facts, MissingExecutors
from streamapp_operator.reconciler.facts.missing_executors import ASK_SECONDS
from streamapp_operator.reconciler.facts.pod_state import (
    MOUNT_SECONDS,
    VOLUME_REASONS,
    PodLifecycle,
)
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.internal_error import internal_error
from streamapp_operator.reconciler.objects.configuration_versions import (
    CONFIGURATION_SECONDS,
    has_configuration,
)
from streamapp_operator.reconciler.planning.acceptance import (
    Acceptance,
    AcceptanceStatus,
    accept_generation,
    to_dry_run,
)
from streamapp_operator.reconciler.planning.autoscaling import (
    AutoscaleDecision,
    AutoscaleState,
    autoscale,
)
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan, plan_generation
from streamapp_operator.reconciler.planning.model_update import ModelUpdate, model_update
from streamapp_operator.reconciler.pods.dry_run_pods import dry_run_pods
from streamapp_operator.reconciler.status.app_status import app_status
from streamapp_operator.reconciler.status.internal_error_status import internal_error_status
from streamapp_operator.reconciler.status.standby_problem import seconds_until_late
from streamapp_operator.reconciler.status.status_events import move_events, status_events
from streamapp_operator.reconciler.writes.planned_writes import (
    after_status,
    before_status,
    expires_in,
    locality_events,
)
from streamapp_operator.reconciler.writes.published_model import growth_events
from streamapp_operator.reconciler.writes.reconcile_decision import ReconcileDecision, StatusEvent
from streamapp_operator.reconciler.writes.restores import restores

RETRY_SECONDS = 30.0


def decide(facts: Facts, installation: Installation) -> ReconcileDecision:
    """Accept the newest generation, plan it, update the job model, choose the driver's action and report.

    Never raises. After an exception the newest generation is refused, and the one accepted before is looked
    after as if the edit had not come.
    """
    try:
        return _decision(collect_findings(facts, installation))
    except Exception as error:  # a fault of ours must not leave the driver without anybody who restarts it
        return _after_error(facts, installation, error)


def _after_error(facts: Facts, installation: Installation, error: Exception) -> ReconcileDecision:
    problem = internal_error(error)
    acceptance = Acceptance(AcceptanceStatus.REJECTED, facts.run.in_force, problems=(problem,))
    try:
        decision = _decision(collect_findings(facts, installation, acceptance))
    except Exception:  # the first error is the one that is reported
        status = internal_error_status(facts, problem)
        events = tuple(status_events(facts.app.status, status))
        return ReconcileDecision((), status, (), events, RETRY_SECONDS, internal_error=error)
    delay = min(decision.requeue_after or RETRY_SECONDS, RETRY_SECONDS)
    return replace(decision, requeue_after=delay, internal_error=error)


def _decision(findings: Findings) -> ReconcileDecision:
    facts = findings.facts
    history = _announced_history(findings)
    writes_before = tuple(before_status(findings, history))
    status = app_status(findings, history)
    events = (
        *status_events(facts.app.status, status),
        *move_events(facts.app.status, status, findings.report.moved if findings.report else {}),
        *growth_events(findings),
        *locality_events(findings, writes_before),
        *_autoscaling_events(findings),
    )
    return ReconcileDecision(
        before=writes_before,
        status=status,
        after=tuple(after_status(findings)),
        events=events,
        requeue_after=_requeue_after(findings),
        dry_run=tuple(_dry_run(findings)),
        restores=tuple(restores(findings, history)),
        processors=findings.autoscaling.processors if findings.autoscaling else None,
    )


def _autoscaling_events(findings: Findings) -> Iterator[StatusEvent]:
    decision = findings.autoscaling
    if decision is not None and decision.processors is not None:
        change = f"from {decision.state.processors} to {decision.processors} processors"
        yield StatusEvent("Normal", ConditionReason.SCALED, f"{change}: {decision.state.message}")


def _dry_run(findings: Findings) -> Iterator[tuple[str, Manifest]]:
    generation = to_dry_run(findings.facts, findings.acceptance)
    if generation is not None:
        yield from dry_run_pods(findings.facts.app.manifest, generation.shape, generation.generation)


def collect_findings(
    facts: Facts, installation: Installation, acceptance: Acceptance | None = None
) -> Findings:
    """Run every step and collect the findings; `acceptance`, where it is decided already."""
    facts = with_hand_over(facts)
    acceptance = acceptance or accept_generation(facts, installation)
    plan = _plan_target(facts, acceptance)
    model = _update_model(facts, acceptance, plan)
    driver = decide_driver(facts, acceptance.target, model if isinstance(model, ModelUpdate) else None)
    taken = "" if driver.history.incarnation else names_in_the_way(facts)
    action = hold_start(driver.action, acceptance.target, plan, model, taken)
    findings = Findings(facts, acceptance, plan, model, driver, action, installation.network_rules)
    findings = replace(findings, model_in_force=_model_in_force(findings))
    return replace(findings, autoscaling=_autoscaling(findings))


def _autoscaling(findings: Findings) -> AutoscaleDecision | None:
    """Autoscaling's decision; None where the newest spec does not run, or is being changed or restored."""
    facts, target = findings.facts, findings.target
    newest = facts.app.newest
    policy = newest.app.spec.autoscale if newest.app else None
    if policy is None or target is None or target.generation != newest.generation or findings.suspended:
        return None
    report = findings.report
    calm = findings.running and not findings.runs_earlier_generation and not findings.no_progress
    progress = report.progress if report is not None and calm and not report.progress.restoring else None
    model = findings.model_in_force
    processors = target.accepted.app.spec.processors
    state = AutoscaleState.of_status(facts.app.status.get("autoscale") or {}, processors, facts.now)
    return autoscale(policy, state, progress, len(model.tasks) if model else None, facts.now)


def _plan_target(facts: Facts, acceptance: Acceptance) -> GenerationPlan | None:
    target = acceptance.target
    if target is None or is_embedded(target.accepted.app):
        return None
    if target is acceptance.new_generation:
        return acceptance.plan
    return plan_generation(facts, target.accepted.app, target.generation)


def _update_model(
    facts: Facts, acceptance: Acceptance, plan: GenerationPlan | None
) -> ModelUpdate | Refusal | None:
    target = acceptance.target
    if target is None:
        return None
    has_driver = any(pod.life is not PodLifecycle.ENDED for pod in facts.pods.drivers)
    update = model_update(facts, target.accepted, plan, replace_all=not has_driver)
    # A start takes up the present counts in any case; a running driver only where growth is monitored.
    monitored = growth_interval(target.accepted.app) is not None
    if has_driver and isinstance(update, ModelUpdate) and update.grown and not monitored:
        return model_update(facts, target.accepted, None, replace_all=False)
    return update


def _announced_history(findings: Findings) -> DriverHistory:
    """The history with the action that the status announces."""
    history, target, successor = findings.driver.history, findings.target, findings.driver.successor
    if successor.start:
        history = replace(history, successor=successor.incarnation)
    match findings.action:
        case StartDriver(incarnation=incarnation) if target is not None:
            return replace(
                history,
                incarnation=incarnation,
                generation=target.generation,
                uid="",
                started_at=None,
                stopping="",
                restarts=history.restarts + (history.last is not None and not history.open),
            )
        case StopDriver(reason=reason):
            return replace(history, stopping=reason)
        case KeepDriver():
            return replace(history, stopping="")  # an edit that was reverted before the driver was stopped
    return history


def _model_in_force(findings: Findings) -> JobModel | None:
    """The model in force after all writes."""
    update, desired = findings.model, findings.facts.run.desired
    if isinstance(update, ModelUpdate):
        live = isinstance(findings.action, KeepDriver) and desired is not None and not update.tasks_changed
        if live or isinstance(findings.action, StartDriver):
            return update.wanted.model
    return desired.wanted.model if desired else None


def _requeue_after(findings: Findings) -> float | None:
    """Seconds until the next reconcile, even if nothing changes."""
    delays = [findings.driver.seconds_to_wait] if findings.driver.seconds_to_wait is not None else []
    match findings.action:
        case AwaitPods(seconds=seconds) | DelayStart(seconds=seconds) | HoldStart(seconds=seconds):
            delays.append(seconds)
        case KeepDriver(pod=pod, seconds=seconds):
            delays += [] if seconds is None else [seconds]
            if pod.unready_since is not None and findings.facts.pods.nodes:
                delays.append(RETRY_SECONDS)
    successor = findings.driver.successor
    late_in = seconds_until_late(findings.facts, findings.target)
    obstacle = findings.driver.obstacle
    failed_in = obstacle.seconds_left if obstacle is not None else None
    delays += [delay for delay in (successor.look_after, failed_in, late_in) if delay]
    driver_pod = findings.driver.pod
    if driver_pod is not None and driver_pod.labels.get(APP_LABEL) != findings.facts.app.name:
        delays.append(RETRY_SECONDS)  # the watch does not see a pod without the label
    if findings.acceptance.status is AcceptanceStatus.REJECTED and findings.facts.app.dry_run is not None:
        delays.append(RETRY_SECONDS)  # quotas and policies change without an event of the app
    delays += [
        max(MissingExecutors.GRACE_SECONDS - missing.seconds(findings.facts.now), 0.0) or ASK_SECONDS
        for missing in findings.facts.pods.missing_executors.values()
    ]
    pods = (*findings.facts.pods.drivers, *findings.facts.pods.successors, *findings.facts.pods.executors)
    if any(pod.awaits_container or pod.trouble.startswith(tuple(VOLUME_REASONS)) for pod in pods):
        delays.append(MOUNT_SECONDS)  # events of pods are not watched
    if findings.facts.cluster.unrestored or findings.facts.pods.refused_pod:
        delays.append(RETRY_SECONDS)
    is_refused = findings.acceptance.driver_refusal is not None
    if is_refused or (driver_pod is not None and has_configuration(driver_pod.manifest)):
        delays.append(CONFIGURATION_SECONDS)
    delays += expires_in(findings)
    if findings.autoscaling is not None and findings.autoscaling.look_after is not None:
        delays.append(findings.autoscaling.look_after)
    if findings.acceptance.candidate is not None:
        delays.append(findings.acceptance.candidate.seconds_left)
    plan = findings.acceptance.plan
    if plan is not None and findings.acceptance.new_generation is None:
        delays.append(getattr(plan.counts, "seconds", RETRY_SECONDS))
    return min(delays, default=None)
