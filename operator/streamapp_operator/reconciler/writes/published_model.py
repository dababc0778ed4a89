"""The job model as it is published to the driver: when, and in what form."""

from collections.abc import Iterator
from dataclasses import replace

from streamapp.protocol import message_names
from streamapp.protocol.accepted_app import encode_accepted
from streamapp.protocol.wanted_state import WantedState, encode_wanted
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.config_maps.config_map_objects import job_model_config_map
from streamapp_operator.reconciler.driver.driver_actions import KeepDriver, StartDriver
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.planning.model_update import ModelUpdate
from streamapp_operator.reconciler.pods.driver_pod import generation_of
from streamapp_operator.reconciler.writes.reconcile_decision import StatusEvent


def publishes_model(findings: Findings, update: ModelUpdate) -> bool:
    """True if this model is to be published: before a start, or live where no restart is needed."""
    if isinstance(findings.action, StartDriver):
        return True
    if (
        not isinstance(findings.action, KeepDriver)
        or findings.driver.restart
        or findings.facts.run.desired is None
    ):
        return False
    if update.tasks_changed and findings.driver.seconds_to_wait is not None:
        return False
    desired, target = findings.facts.run.desired, findings.target
    accepted_text = encode_accepted(target.accepted) if target else desired.accepted
    published = (desired.wanted, desired.accepted, desired.candidate)
    return (_for_driver(findings, update.wanted), accepted_text, _candidate_text(findings)) != published


def growth_events(findings: Findings) -> Iterator[StatusEvent]:
    """An event where the running driver is given added partitions; a restart for them has one of its own."""
    update = findings.model
    if not isinstance(update, ModelUpdate) or not isinstance(findings.action, KeepDriver):
        return
    if update.tasks_changed and update.grown and publishes_model(findings, update):
        yield StatusEvent("Normal", ConditionReason.PARTITIONS_GREW, "; ".join(update.grown))


def _candidate_text(findings: Findings) -> str:
    candidate = findings.acceptance.candidate
    return candidate.text if candidate is not None else ""


def _for_driver(findings: Findings, wanted: WantedState) -> WantedState:
    """The wanted state with the spec hash of the running driver's generation, which the driver checks."""
    pod = findings.driver.pod
    running_generation = (
        findings.facts.run.accepted_generation(generation_of(pod.manifest))
        if pod and isinstance(findings.action, KeepDriver)
        else None
    )
    return (
        replace(wanted, spec_hash=running_generation.accepted.hash)
        if running_generation is not None
        else wanted
    )


def published_model(findings: Findings, update: ModelUpdate, incarnation: int) -> Manifest:
    """The job model's ConfigMap, with the newest accepted app for changes that need no restart."""
    desired, target = findings.facts.run.desired, findings.target
    wanted = _for_driver(findings, update.wanted)
    reset_nonce = target.accepted.app.spec.reset_nonce if target else 0
    was_reset = desired is not None and (desired.was_reset or desired.reset_nonce < reset_nonce)
    manifest = job_model_config_map(
        findings.facts.app.manifest, encode_wanted(wanted), reset_nonce, incarnation, was_reset=was_reset
    )
    if target is not None:
        manifest["data"][message_names.ACCEPTED] = encode_accepted(target.accepted)
    if candidate := _candidate_text(findings):
        manifest["data"][message_names.CANDIDATE] = candidate
    return manifest


def lost_model(findings: Findings) -> ModelUpdate | None:
    """The model for a running driver whose ConfigMap is gone or cannot be read; None where none is lost.

    A driver that ran before knows its layout and its run, so that the next model waits for its report.
    """
    update, target, plan = findings.model, findings.target, findings.plan
    if findings.facts.run.desired is not None or not isinstance(findings.action, KeepDriver):
        return None
    if target is None or not isinstance(update, ModelUpdate) or findings.driver.restart:
        return None
    if findings.facts.run.report is None and target.ran:
        return None
    plans_itself = findings.embedded or (plan is not None and bool(plan.planned_by_driver))
    return update if update.wanted.model is not None or plans_itself else None
