"""The conditions of an app: each from the findings alone, each by one function."""

from collections.abc import Iterator

from streamapp.protocol.report import State
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from streamapp_operator.counts.answers import Known, Misused, Unavailable
from streamapp_operator.driver.history import Ended
from streamapp_operator.driver.moves import Await, Clear, Hold, Keep, Rest, Start, Stop
from streamapp_operator.facts.pods import Life
from streamapp_operator.objects.driver_pod import generation_of
from streamapp_operator.status.condition import Aspect, Condition, fails, holds, told, unknown
from streamapp_operator.status.view import View
from streamapp_operator.status.why import Why
from streamapp_operator.steps.accept import Verdict
from streamapp_operator.steps.author import Authored


def accepted(view: View) -> Condition:
    """Whether the newest generation is taken."""
    found, generation = view.acceptance, view.facts.newest.generation
    if found.verdict is Verdict.ACCEPTED:
        return holds(Aspect.ACCEPTED, Why.ACCEPTED, "the resource is sound", generation)
    if found.verdict is Verdict.OPEN:
        message = "it is accepted once it can be planned"
        return unknown(Aspect.ACCEPTED, Why.NOT_PLANNED_YET, message, generation)
    if found.refused is not None:
        refused = found.refused
        message = f"{refused.path}: {refused.message}" if refused.path else refused.message
        return fails(Aspect.ACCEPTED, refused.reason or Reason.INVALID_SPEC, message, generation)
    reason = found.problems[0].reason if found.problems else Reason.INVALID_SPEC
    return fails(Aspect.ACCEPTED, reason, told(found.problems), generation)


def planned(view: View) -> Condition:
    """Whether there is a plan for the newest generation."""
    generation = view.facts.newest.generation
    found = view.acceptance.authored or (
        view.authored if view.acceptance.verdict is Verdict.ACCEPTED else None
    )
    if view.acceptance.verdict is Verdict.ACCEPTED and view.embedded:
        message = "the driver plans it: only that one can open an embedded log"
        return holds(Aspect.PLANNED, Why.PLANNED_BY_DRIVER, message, generation)
    if found is not None and found.by_driver:
        message = "there is state under this application id; the driver plans by the layout beside it"
        return holds(Aspect.PLANNED, Why.PLANNED_BY_DRIVER, message, generation)
    if found is None:
        message = "it is planned once the resource is sound"
        return unknown(Aspect.PLANNED, Why.NOT_ACCEPTED, message, generation)
    if found.proposal is None:
        return _not_planned(found, generation)
    if found.rejected or (found.problems and view.facts.desired is None):
        return fails(Aspect.PLANNED, found.problems[0].reason, told(found.problems), generation)
    streams, joins = len(found.proposal.plan.streams), len(found.proposal.plan.joins)
    return holds(Aspect.PLANNED, Why.PLANNED, f"{streams} streams, {joins} joins agree", generation)


def _not_planned(found: Authored, generation: int) -> Condition:
    counts = found.counts
    if isinstance(counts, Unavailable):
        message = f"system {counts.system} does not answer: {counts.message}"
        return unknown(Aspect.PLANNED, Reason.SYSTEM_UNAVAILABLE, message, generation)
    if isinstance(counts, Misused) or found.problems:
        reason = found.problems[0].reason if found.problems else Reason.INVALID_SPEC
        return fails(Aspect.PLANNED, reason, told(found.problems), generation)
    message = "the partition counts are being looked up"
    return unknown(Aspect.PLANNED, Why.NOT_PLANNED_YET, message, generation)


def launched(view: View) -> Condition:
    """Whether there is a driver for the generation that is to run."""
    return next(_launched(view))


def _launched(view: View) -> Iterator[Condition]:
    # The first that is said counts.
    pod, move = view.driving.pod, view.move
    generation = _runs(view)
    match move:
        case Start():
            text = f"driver {move.incarnation} is being made"
            yield holds(Aspect.LAUNCHED, Why.LAUNCHED, text, generation)
        case Rest():
            yield fails(Aspect.LAUNCHED, Why.BACKING_OFF, _last_words(view), generation)
        case Hold():
            yield fails(Aspect.LAUNCHED, move.reason, move.message, generation)
        case _ if pod is not None and pod.life is not Life.LEAVING and not isinstance(move, Stop):
            yield holds(Aspect.LAUNCHED, Why.LAUNCHED, f"driver {pod.name}", generation)
        case Stop() | Await() | Clear():
            yield fails(Aspect.LAUNCHED, Why.ENDING, _ending(view), generation)
    yield fails(Aspect.LAUNCHED, _why_none(view), _last_words(view), generation)


def ready(view: View) -> Condition:
    """Whether the app does its work; of the generation that runs."""
    return next(_ready(view))


def _ready(view: View) -> Iterator[Condition]:
    # The first that is said counts.
    pod, generation = view.driving.pod, _runs(view)
    if view.running:
        yield holds(Aspect.READY, Why.RUNNING, "all processors work", generation)
    if pod is None:
        why = Why.LAUNCHED if isinstance(view.move, Start) else _why_none(view)
        yield fails(Aspect.READY, why, "there is no driver", generation)
        return
    if pod.life is Life.LEAVING or isinstance(view.move, Stop):
        yield fails(Aspect.READY, Why.ENDING, f"driver {pod.name} is ending", generation)
    if pod.life is Life.COMING:
        text = pod.trouble or f"driver {pod.name} is being started"
        yield fails(Aspect.READY, Why.DRIVER_PENDING, text, generation)
    report = view.report
    if report is not None and report.state is State.WAITING and not view.embedded:
        have, want = sum(bool(seat.executor) for seat in report.binding.values()), _processors(view)
        if have < want:
            text = f"{have} of {want} executors are there"
            yield fails(Aspect.READY, Why.EXECUTORS_MISSING, text, generation)
    if report is None or report.state in {State.STARTING, State.WAITING}:
        text = "the driver has not got to its first batch"
        yield fails(Aspect.READY, Why.DRIVER_STARTING, text, generation)
        return
    if view.ended:
        yield fails(Aspect.READY, Why.ENDING, "all is done, and the driver ends", generation)
    if report.state is State.RESTORING:
        text = f"{report.progress.restoring} tasks bring back their state"
        yield fails(Aspect.READY, Why.RESTORING, text, generation)
    yield fails(Aspect.READY, Why.MODEL_CHANGED, "the driver takes up another job model", generation)


def progressing(view: View) -> Condition:
    """Whether the operator is bringing the app from one form to another."""
    return next(_progressing(view))


def _progressing(view: View) -> Iterator[Condition]:
    # The first that is said counts.
    generation = view.facts.newest.generation
    driving = view.driving
    if driving.restart:
        reason, *about = driving.restart
        yield holds(Aspect.PROGRESSING, reason, f"restarting: {'; '.join(about) or reason}", generation)
    if driving.hold is not None and not isinstance(view.modelled, Refusal) and view.modelled is not None:
        text = "; ".join(view.modelled.grown)
        yield holds(Aspect.PROGRESSING, Why.PARTITIONS_GREW, text, generation)
    match view.move:
        case Start():
            yield holds(Aspect.PROGRESSING, Why.LAUNCHED, "the driver is being started", generation)
        case Stop() | Await() | Clear():
            yield holds(Aspect.PROGRESSING, Why.ENDING, _ending(view), generation)
        case Keep() if view.report is not None and view.report.model_version not in {0, view.wanted_version}:
            text = f"the driver takes up job model {view.wanted_version}"
            yield holds(Aspect.PROGRESSING, Why.MODEL_CHANGED, text, generation)
        case Keep() if view.behind:
            text = f"the driver takes up generation {view.target.generation if view.target else ''}"
            yield holds(Aspect.PROGRESSING, Why.SPEC_CHANGED, text, generation)
        case Keep() if not view.running:
            now = ready(view)
            yield holds(Aspect.PROGRESSING, now.reason, now.message, generation)
    yield fails(Aspect.PROGRESSING, Why.STABLE, "nothing is under way", generation)


def degraded(view: View) -> Condition:
    """Whether the app runs worse than it was asked to."""
    return next(_degraded(view))


def _degraded(view: View) -> Iterator[Condition]:
    # The first that is said counts.
    generation = view.facts.newest.generation
    pod, report = view.driving.pod, view.report
    if isinstance(view.modelled, Refusal):
        yield holds(Aspect.DEGRADED, view.modelled.reason, str(view.modelled), generation)
    if view.authored is not None and view.authored.problems and view.target is not None:
        first = view.authored.problems[0]
        yield holds(Aspect.DEGRADED, first.reason, told(view.authored.problems), generation)
    if view.driving.history.failures and view.target is not None and not view.running:
        yield holds(Aspect.DEGRADED, Why.DRIVER_FAILED, _last_words(view), generation)
    if pod is not None and pod.trouble:
        yield holds(Aspect.DEGRADED, Why.DRIVER_PENDING, pod.trouble, generation)
    if trouble := next((one.trouble for one in view.facts.executors if one.trouble), ""):
        yield holds(Aspect.DEGRADED, Why.EXECUTORS_MISSING, trouble, generation)
    if report is not None and report.warnings:
        text = "\n".join(f"{one.path}: {one.message}" if one.path else one.message for one in report.warnings)
        yield holds(Aspect.DEGRADED, report.warnings[0].reason, text, generation)
    yield fails(Aspect.DEGRADED, Why.HEALTHY, "nothing is wrong", generation)


def stalled(view: View) -> Condition:
    """Whether somebody has to do something before the app gets to what was asked for last."""
    return next(_stalled(view))


def _stalled(view: View) -> Iterator[Condition]:
    # The first that is said counts.
    generation = view.facts.newest.generation
    if view.acceptance.verdict is Verdict.REJECTED:
        found = accepted(view)
        goes_on = view.acceptance.target
        tail = f"\ngeneration {goes_on.generation} goes on" if goes_on else ""
        yield holds(Aspect.STALLED, found.reason, found.message + tail, generation)
    if view.driving.over is Why.RESTARTS_EXHAUSTED:
        yield holds(Aspect.STALLED, Why.RESTARTS_EXHAUSTED, _last_words(view), generation)
    if isinstance(view.move, Hold) and view.authored is not None and view.authored.rejected:
        yield holds(Aspect.STALLED, view.move.reason, view.move.message, generation)
    yield fails(Aspect.STALLED, Why.UP_TO_DATE, "nobody has to do anything", generation)


def suspended(view: View) -> Condition:
    """Whether the app is at rest because somebody wants it so."""
    generation = view.facts.newest.generation
    if not view.suspended:
        return fails(Aspect.SUSPENDED, Why.NOT_SUSPENDED, "spec.suspend is not set", generation)
    if view.driving.pod is not None or view.facts.executors:
        return fails(Aspect.SUSPENDED, Why.ENDING, "the running batch is being ended", generation)
    return holds(Aspect.SUSPENDED, Why.SUSPENDED, "state and places are kept", generation)


ALL = (accepted, planned, launched, ready, progressing, degraded, stalled, suspended)


def _runs(view: View) -> int:
    """The generation that runs. One without a restart runs when the driver says that it goes by it."""
    pod, target = view.driving.pod, view.target
    if view.behind and view.report is not None:
        return view.report.generation
    if pod is not None and (view.driving.restart or target is None):
        return generation_of(pod.manifest)
    return target.generation if target is not None else view.facts.newest.generation


def _processors(view: View) -> int:
    return view.target.accepted.app.spec.processors if view.target else 0


def _why_none(view: View) -> str:
    if view.suspended:
        return Why.SUSPENDED
    if view.driving.over is not None:
        return view.driving.over
    planned_yet = not view.acceptance.authored or isinstance(view.acceptance.authored.counts, Known)
    return Why.NOT_ACCEPTED if planned_yet else Why.NOT_PLANNED_YET


def _last_words(view: View) -> str:
    last = view.driving.history.last
    if last is None:
        return "no driver was started yet"
    words = f"driver {last.incarnation} ended ({last.outcome}, {last.reason}): {last.message}"
    counts = f"; {view.driving.history.failures} failures in a row" * (last.outcome is Ended.RETRY)
    return words + counts


def _ending(view: View) -> str:
    match view.move:
        case Stop(pod=pod, why=why):
            return f"driver {pod.name} is asked to end: {why}"
        case Await(what=what):
            return what
        case Clear(executors=executors, at_once=lost):
            return f"{len(executors) + len(lost)} executors of the last driver are taken away"
    return ""
