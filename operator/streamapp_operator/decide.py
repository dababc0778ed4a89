"""From facts to a verdict: the steps of a reconcile, in their order. No step looks anything up."""

from dataclasses import replace

from streamapp.author.monitoring import growth_interval
from streamapp.author.streams import is_embedded
from streamapp.jobmodel.model import JobModel
from streamapp.tasks.refusal import Refusal
from streamapp_operator.driver.history import History
from streamapp_operator.driver.moves import Await, Hold, Keep, Rest, Start, Stop
from streamapp_operator.facts.facts import Facts
from streamapp_operator.facts.pods import Life
from streamapp_operator.installation import Installation
from streamapp_operator.status.events import events
from streamapp_operator.status.told import status
from streamapp_operator.status.view import View
from streamapp_operator.steps.accept import Acceptance, accept
from streamapp_operator.steps.author import Authored, author
from streamapp_operator.steps.driving import driving
from streamapp_operator.steps.model import Modelled, model
from streamapp_operator.steps.starting import held
from streamapp_operator.steps.writes import after_status, before_status, expires_in
from streamapp_operator.verdict import Verdict

RETRY_SECONDS = 30.0


def decide(facts: Facts, installation: Installation) -> Verdict:
    """Read, validate, plan, form tasks, place, model, drive, tell."""
    view = look(facts, installation)
    history = _as_announced(view)
    before = tuple(before_status(view, history))
    told = status(view, history, _model_after(view))
    return Verdict(
        before=before,
        status=told,
        after=tuple(after_status(view)),
        events=tuple(events(facts.status, told)),
        again=_again(view),
    )


def look(facts: Facts, installation: Installation) -> View:
    """All findings."""
    acceptance = accept(facts, installation)
    authored = _authored(facts, acceptance)
    modelled = _modelled(facts, acceptance, authored)
    driven = driving(facts, acceptance.target, modelled if isinstance(modelled, Modelled) else None)
    move = held(driven.move, acceptance.target, authored, modelled)
    return View(facts, acceptance, authored, modelled, driven, move)


def _authored(facts: Facts, acceptance: Acceptance) -> Authored | None:
    target = acceptance.target
    if target is None or is_embedded(target.accepted.app):
        return None
    if target is acceptance.made:
        return acceptance.authored
    return author(facts, target.accepted.app, target.generation)


def _modelled(facts: Facts, acceptance: Acceptance, authored: Authored | None) -> Modelled | Refusal | None:
    target = acceptance.target
    if target is None:
        return None
    here = any(pod.life is not Life.ENDED for pod in facts.drivers)
    found = model(facts, target.accepted, authored, anew=not here)
    watched = growth_interval(target.accepted.app) is not None  # a start goes by the counts of its day anyway
    if here and isinstance(found, Modelled) and found.grown and not watched:
        return model(facts, target.accepted, None, anew=False)
    return found


def _as_announced(view: View) -> History:
    """The history with the move that the status announces."""
    history, target = view.driving.history, view.target
    match view.move:
        case Start(incarnation=incarnation) if target is not None:
            return replace(
                history,
                incarnation=incarnation,
                generation=target.generation,
                uid="",
                started_at=None,
                stopping="",
                restarts=history.restarts + (history.last is not None and not history.open),
            )
        case Stop(why=why):
            return replace(history, stopping=why)
        case Keep():
            return replace(history, stopping="")  # an edit that was taken back before it was acted on
    return history


def _model_after(view: View) -> JobModel | None:
    """The model in force once all is written."""
    if isinstance(view.move, Start | Keep) and isinstance(view.modelled, Modelled):
        restarting = view.modelled.tasks_changed and not isinstance(view.move, Start)
        if not restarting:
            return view.modelled.wanted.model
    return view.facts.desired.wanted.model if view.facts.desired else None


def _again(view: View) -> float | None:
    """When to look again, even if nothing changes."""
    found = [view.driving.hold] if view.driving.hold is not None else []
    match view.move:
        case Await(seconds=seconds) | Rest(seconds=seconds) | Hold(seconds=seconds):
            found.append(seconds)
        case Keep(pod=pod) if pod.unready_since is not None and view.facts.nodes:
            found.append(RETRY_SECONDS)
    found += expires_in(view)
    authored = view.acceptance.authored
    if authored is not None and view.acceptance.made is None:
        found.append(getattr(authored.counts, "seconds", RETRY_SECONDS))
    return min(found, default=None)
