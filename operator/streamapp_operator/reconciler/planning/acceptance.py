"""Whether the newest generation is taken: it is read, held to the rules, planned, and only then kept."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from streamapp.author.app_streams import is_embedded
from streamapp.author.proposal import Proposal
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
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.planning.acceptance_rules import acceptance_problems as rule_problems
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan, plan_generation
from streamapp_operator.reconciler.pods.pod_shape import pod_shape


class AcceptanceStatus(Enum):
    """What is said to a generation."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OPEN = "open"  # its streams' partitions are not known yet


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The verdict on the newest generation, and the generation that is to run."""

    verdict: AcceptanceStatus
    target: AcceptedGeneration | None  # the newest one where that was accepted, else the last one before it
    made: AcceptedGeneration | None = None  # a snapshot that has to be kept first
    problems: tuple[Problem, ...] = ()
    refused: DriverRefusal | None = None  # by a driver
    authored: GenerationPlan | None = None  # of the newest generation, where it was planned just now
    changed: tuple[Change, ...] = ()  # from the last accepted generation


def accept_generation(facts: Facts, installation: Installation) -> Acceptance:
    """Look at the newest generation."""
    if facts.storage_class:
        installation = replace(installation, storage_class=facts.storage_class)
    kept = facts.snapshot(facts.newest.generation)
    if kept is not None and kept.refused is not None:
        return Acceptance(AcceptanceStatus.REJECTED, facts.in_force, refused=kept.refused)
    if kept is not None:
        return Acceptance(AcceptanceStatus.ACCEPTED, kept)
    app = facts.newest.app
    if app is None:
        return Acceptance(AcceptanceStatus.REJECTED, facts.in_force, problems=facts.newest.problems)
    found = (*rule_problems(app, installation), *_rivalry(facts, app), *refused_changes(facts, app))
    if found:
        return Acceptance(AcceptanceStatus.REJECTED, facts.in_force, problems=found)
    return _planned(facts, app, installation)


def _planned(facts: Facts, app: StreamApp, installation: Installation) -> Acceptance:
    before = facts.in_force
    changed = changes(before.accepted.app, app) if before else ()
    if problem := _too_large(facts, app, installation, changed):
        return Acceptance(AcceptanceStatus.REJECTED, before, problems=(problem,))
    if is_embedded(app):  # its streams are on a volume that only the driver can open: that one plans
        made = _snapshot(facts, app, installation, changed)
        return Acceptance(AcceptanceStatus.ACCEPTED, made, made, changed=changed)
    authored = plan_generation(facts, app, facts.newest.generation)
    if authored.problems:
        return Acceptance(AcceptanceStatus.REJECTED, before, problems=authored.problems, authored=authored)
    if not isinstance(authored.counts, KnownCounts):
        return Acceptance(AcceptanceStatus.OPEN, before, authored=authored)
    made = _snapshot(facts, app, installation, changed)
    return Acceptance(AcceptanceStatus.ACCEPTED, made, made, authored=authored, changed=changed)


def _snapshot(
    facts: Facts, app: StreamApp, installation: Installation, changed: tuple[Change, ...]
) -> AcceptedGeneration:
    """What shapes pods is resolved anew only by an edit that makes new pods anyway."""
    before = facts.in_force
    keeps = before is not None and can_apply_live(changed)
    shaped = before.shape if before is not None and keeps else pod_shape(app, installation, facts.uid)
    accepted = AcceptedApp(app, facts.newest.generation, facts.uid)
    return AcceptedGeneration(accepted, shaped, ran=before.ran if before is not None and keeps else False)


def _too_large(
    facts: Facts, app: StreamApp, installation: Installation, changed: tuple[Change, ...]
) -> Problem | None:
    """An accepted generation has to fit into one ConfigMap, templates and all."""
    try:
        size = generation_size(_snapshot(facts, app, installation, changed))
    except MessageTooLargeError as error:
        return Problem(0, 0, "spec", f"{error.message}; make it shorter", error.reason)
    if size <= MOST_BYTES:
        return None
    message = f"app and pod templates take {size:,} bytes and may take {MOST_BYTES:,}; make them shorter"
    return Problem(0, 0, "spec", message, Reason.TOO_LARGE)


def _rivalry(facts: Facts, app: StreamApp) -> Iterator[Problem]:
    rival = facts.rival
    if rival is not None and not app.spec.take_over:
        message = (
            f'"{app.application_id}" is the application id of {rival.namespace}/{rival.name}; '
            "choose another, or set takeOver once that app is gone"
        )
        yield Problem(0, 0, "spec.applicationId", message, Reason.APPLICATION_ID_IN_USE)


def refused_changes(facts: Facts, app: StreamApp) -> Iterator[Problem]:
    """Fields that are tied to the state, where there is state and it is not given up."""
    before = facts.in_force
    if before is None or not has_state(facts):
        return
    if app.spec.reset_nonce > before.accepted.app.spec.reset_nonce:
        return
    for path in paths_with_effect(changes(before.accepted.app, app), Effect.REFUSED):
        message = "cannot change while there is state; put it back, or raise resetNonce to give the state up"
        yield Problem(0, 0, path, message, Reason.CHANGE_REFUSED)


def has_state(facts: Facts) -> bool:
    """Whether tasks hold state that an edit could tear from them."""
    layouts = (
        facts.report.layout if facts.report else None,
        facts.desired.wanted.layout if facts.desired else None,
    )
    return any(layout is not None and layout.has_state for layout in layouts)


def proposal_of(acceptance: Acceptance) -> Proposal | None:
    """The plan of the newest generation, where one was made just now."""
    return acceptance.authored.proposal if acceptance.authored else None
