"""Acceptance of the newest generation: it is parsed, checked by the rules, planned and then accepted."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from streamapp.author.app_streams import is_embedded
from streamapp.author.state_meaning import changed_meanings, state_meanings
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.message_frame import MOST_BYTES, MessageTooLargeError
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_changes import Change, can_apply_live, changes, paths_with_effect
from streamapp.spec.resource.field_marks import Effect
from streamapp_operator.reconciler.config_maps.accepted_generation import (
    AcceptedGeneration,
    DriverRefusal,
    generation_size,
)
from streamapp_operator.reconciler.facts.facts import Facts, PublishedRun
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.planning.acceptance_rules import acceptance_problems as rule_problems
from streamapp_operator.reconciler.planning.candidate import Candidate, judged
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan, plan_generation
from streamapp_operator.reconciler.pods.pod_shape import pod_shape


class AcceptanceStatus(Enum):
    """The result of acceptance."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OPEN = "open"  # partition counts are not known yet, or the running driver has not judged it


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The acceptance of the newest generation, and the generation that is to run."""

    status: AcceptanceStatus
    target: AcceptedGeneration | None  # the newest generation if accepted, else the last accepted one
    new_generation: AcceptedGeneration | None = None  # its ConfigMap has to be written first
    candidate: Candidate | None = None  # the newest generation, which the running driver is asked about
    problems: tuple[Problem, ...] = ()
    driver_refusal: DriverRefusal | None = None
    plan: GenerationPlan | None = None  # of the newest generation, where this reconcile planned it
    changes: tuple[Change, ...] = ()  # since the last accepted generation


def accept_generation(facts: Facts, installation: Installation) -> Acceptance:
    """Accept or reject the newest generation."""
    if facts.cluster.storage_class:
        installation = replace(installation, storage_class=facts.cluster.storage_class)
    earlier_acceptance = facts.run.accepted_generation(facts.app.newest.generation)
    if earlier_acceptance is not None and earlier_acceptance.driver_refusal is not None:
        return Acceptance(
            AcceptanceStatus.REJECTED, facts.run.in_force, driver_refusal=earlier_acceptance.driver_refusal
        )
    if earlier_acceptance is not None:
        return Acceptance(AcceptanceStatus.ACCEPTED, earlier_acceptance)
    app = facts.app.newest.app
    if app is None:
        return Acceptance(AcceptanceStatus.REJECTED, facts.run.in_force, problems=facts.app.newest.problems)
    problems = (
        *rule_problems(app, installation),
        *_application_id_problems(facts, app),
        *refused_changes(facts.run, app),
    )
    if problems:
        return Acceptance(AcceptanceStatus.REJECTED, facts.run.in_force, problems=problems)
    return _planned(facts, app, installation)


def _planned(facts: Facts, app: StreamApp, installation: Installation) -> Acceptance:
    in_force = facts.run.in_force
    spec_changes = changes(in_force.accepted.app, app) if in_force else ()
    if problem := _too_large(facts, app, installation, spec_changes):
        return Acceptance(AcceptanceStatus.REJECTED, in_force, problems=(problem,))
    if is_embedded(app):  # only the driver can open the volume with the streams, so the driver plans
        return _accepted(facts, _new_generation(facts, app, installation, spec_changes), spec_changes)
    plan = plan_generation(facts, app, facts.app.newest.generation)
    if plan.problems:
        return Acceptance(AcceptanceStatus.REJECTED, in_force, problems=plan.problems, plan=plan)
    if not isinstance(plan.counts, KnownCounts):
        return Acceptance(AcceptanceStatus.OPEN, in_force, plan=plan)
    return _accepted(facts, _new_generation(facts, app, installation, spec_changes), spec_changes, plan)


def _accepted(
    facts: Facts,
    new_generation: AcceptedGeneration,
    spec_changes: tuple[Change, ...],
    plan: GenerationPlan | None = None,
) -> Acceptance:
    """The generation is accepted, unless the running driver or the API server does not take it."""
    candidate = judged(facts, new_generation, spec_changes)
    if isinstance(candidate, Candidate):
        return Acceptance(AcceptanceStatus.OPEN, facts.run.in_force, candidate=candidate, plan=plan)
    if (refusal := candidate.driver_refusal) is not None:
        return Acceptance(
            AcceptanceStatus.REJECTED, facts.run.in_force, candidate, driver_refusal=refusal, plan=plan
        )
    if facts.app.dry_run is not None and facts.app.dry_run.problems:
        problems = facts.app.dry_run.problems
        return Acceptance(AcceptanceStatus.REJECTED, facts.run.in_force, problems=problems, plan=plan)
    return Acceptance(
        AcceptanceStatus.ACCEPTED, new_generation, new_generation, plan=plan, changes=spec_changes
    )


def to_dry_run(facts: Facts, acceptance: Acceptance) -> AcceptedGeneration | None:
    """The generation whose pods the API server is to be asked about: a new one, of pods not seen so far."""
    new_generation, in_force = acceptance.new_generation, facts.run.in_force
    if new_generation is None or new_generation.driver_refusal or facts.app.dry_run is not None:
        return None
    return None if in_force is not None and in_force.shape == new_generation.shape else new_generation


def _new_generation(
    facts: Facts, app: StreamApp, installation: Installation, spec_changes: tuple[Change, ...]
) -> AcceptedGeneration:
    """The generation to accept. The pod shape is resolved again only by an edit that restarts the pods."""
    in_force = facts.run.in_force
    keeps_shape = in_force is not None and can_apply_live(spec_changes)
    shape = (
        in_force.shape if in_force is not None and keeps_shape else pod_shape(app, installation, facts.uid)
    )
    accepted = AcceptedApp(app, facts.app.newest.generation, facts.uid)
    return AcceptedGeneration(
        accepted,
        shape,
        ran=in_force.ran if in_force is not None and keeps_shape else False,
        adopted=facts.run.adopted_generations,
    )


def _too_large(
    facts: Facts, app: StreamApp, installation: Installation, spec_changes: tuple[Change, ...]
) -> Problem | None:
    """A problem where app and pod templates do not fit into one ConfigMap."""
    try:
        size = generation_size(_new_generation(facts, app, installation, spec_changes))
    except MessageTooLargeError as error:
        return Problem(0, 0, "spec", f"{error.message}; make it shorter", error.reason)
    if size <= MOST_BYTES:
        return None
    message = f"app and pod templates take {size:,} bytes and may take {MOST_BYTES:,}; make them shorter"
    return Problem(0, 0, "spec", message, Reason.TOO_LARGE)


def _application_id_problems(facts: Facts, app: StreamApp) -> Iterator[Problem]:
    """An id is taken over from an app that is gone or never ran: two that live would share their state."""
    if facts.app.namespace_of_id:
        message = (
            f'"{app.application_id}" begins with the name of namespace "{facts.app.namespace_of_id}", '
            "whose apps have such ids by default; choose another, or leave it out"
        )
        yield Problem(0, 0, "spec.applicationId", message, Reason.NOT_ALLOWED)
    holder = facts.app.application_id_holder
    if holder is not None and (holder.was_accepted or not app.spec.take_over):
        way = (
            "delete that app first"
            if app.spec.take_over
            else "choose another, or delete that app and set takeOver"
        )
        message = f'"{app.application_id}" is the application id of {holder.namespace}/{holder.name}; {way}'
        yield Problem(0, 0, "spec.applicationId", message, Reason.APPLICATION_ID_IN_USE)


def refused_changes(run: PublishedRun, app: StreamApp) -> Iterator[Problem]:
    """Changes of fields that existing state forbids, unless the edit resets the state."""
    in_force = run.in_force
    if in_force is None or not has_state(run):
        return
    if app.spec.reset_nonce > in_force.accepted.app.spec.reset_nonce:
        return
    for path in paths_with_effect(changes(in_force.accepted.app, app), Effect.REFUSED):
        message = "cannot change while there is state; put it back, or raise resetNonce to give the state up"
        yield Problem(0, 0, path, message, Reason.CHANGE_REFUSED)
    yield from changed_meanings(app, state_meanings(in_force.accepted.app))


def has_state(run: PublishedRun) -> bool:
    """True if the app has state that an edit could invalidate."""
    layouts = (
        run.report.layout if run.report else None,
        run.desired.wanted.layout if run.desired else None,
    )
    return any(layout is not None and layout.has_state for layout in layouts)
