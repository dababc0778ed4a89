"""From facts to a verdict: the steps of a reconcile, in their order. No step looks anything up."""

from dataclasses import replace

from streamapp.author.app_streams import is_embedded
from streamapp.author.monitoring import growth_interval
from streamapp.jobmodel.job_model import JobModel
from streamapp.tasks.refusal import Refusal
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
from streamapp_operator.reconciler.driver.start_conditions import hold_start
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.planning.acceptance import Acceptance, accept_generation
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan, plan_generation
from streamapp_operator.reconciler.planning.model_update import ModelUpdate, model_update
from streamapp_operator.reconciler.status.app_status import app_status
from streamapp_operator.reconciler.status.status_events import status_events
from streamapp_operator.reconciler.writes.planned_writes import after_status, before_status, expires_in
from streamapp_operator.reconciler.writes.reconcile_decision import ReconcileDecision

RETRY_SECONDS = 30.0


def decide(facts: Facts, installation: Installation) -> ReconcileDecision:
    """Read, validate, plan, form tasks, place, model, drive, tell."""
    view = collect_findings(facts, installation)
    history = _as_announced(view)
    before = tuple(before_status(view, history))
    told = app_status(view, history, _model_after(view))
    return ReconcileDecision(
        before=before,
        status=told,
        after=tuple(after_status(view)),
        events=tuple(status_events(facts.status, told)),
        again=_again(view),
    )


def collect_findings(facts: Facts, installation: Installation) -> Findings:
    """All findings."""
    acceptance = accept_generation(facts, installation)
    authored = _authored(facts, acceptance)
    modelled = _modelled(facts, acceptance, authored)
    driven = decide_driver(facts, acceptance.target, modelled if isinstance(modelled, ModelUpdate) else None)
    move = hold_start(driven.move, acceptance.target, authored, modelled)
    return Findings(facts, acceptance, authored, modelled, driven, move)


def _authored(facts: Facts, acceptance: Acceptance) -> GenerationPlan | None:
    target = acceptance.target
    if target is None or is_embedded(target.accepted.app):
        return None
    if target is acceptance.made:
        return acceptance.authored
    return plan_generation(facts, target.accepted.app, target.generation)


def _modelled(
    facts: Facts, acceptance: Acceptance, authored: GenerationPlan | None
) -> ModelUpdate | Refusal | None:
    target = acceptance.target
    if target is None:
        return None
    here = any(pod.life is not PodLifecycle.ENDED for pod in facts.drivers)
    found = model_update(facts, target.accepted, authored, anew=not here)
    watched = growth_interval(target.accepted.app) is not None  # a start goes by the counts of its day anyway
    if here and isinstance(found, ModelUpdate) and found.grown and not watched:
        return model_update(facts, target.accepted, None, anew=False)
    return found


def _as_announced(view: Findings) -> DriverHistory:
    """The history with the move that the status announces."""
    history, target = view.driving.history, view.target
    match view.move:
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
        case StopDriver(why=why):
            return replace(history, stopping=why)
        case KeepDriver():
            return replace(history, stopping="")  # an edit that was taken back before it was acted on
    return history


def _model_after(view: Findings) -> JobModel | None:
    """The model in force once all is written."""
    if isinstance(view.move, StartDriver | KeepDriver) and isinstance(view.modelled, ModelUpdate):
        restarting = view.modelled.tasks_changed and not isinstance(view.move, StartDriver)
        if not restarting:
            return view.modelled.wanted.model
    return view.facts.desired.wanted.model if view.facts.desired else None


def _again(view: Findings) -> float | None:
    """When to look again, even if nothing changes."""
    found = [view.driving.hold] if view.driving.hold is not None else []
    match view.move:
        case AwaitPods(seconds=seconds) | DelayStart(seconds=seconds) | HoldStart(seconds=seconds):
            found.append(seconds)
        case KeepDriver(pod=pod) if pod.unready_since is not None and view.facts.nodes:
            found.append(RETRY_SECONDS)
    found += expires_in(view)
    authored = view.acceptance.authored
    if authored is not None and view.acceptance.made is None:
        found.append(getattr(authored.counts, "seconds", RETRY_SECONDS))
    return min(found, default=None)
