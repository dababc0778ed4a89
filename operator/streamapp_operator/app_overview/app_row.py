"""One app as the page of all apps shows it: its row, and what is shown when the row is chosen."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from streamapp_operator.app_overview.app_reports import (
    DatedReport,
    current_driver,
    has_page,
    report_of_driver,
)
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.status.app_condition import EXPECTED_STATUS, ConditionType
from streamapp_operator.reconciler.status.phase import Phase

Document = dict[str, Any]
UNKNOWN_PHASE: Final = "Unknown"
"""Of an app that no operator has looked at."""
MAX_MESSAGE: Final = 300
"""Characters of a message in a row; the whole of it is in the details."""


class Attention(StrEnum):
    """The degree to which an app wants somebody to look at it."""

    FAILED = "failed"
    WAITING = "waiting"
    RUNNING = "running"
    RESTING = "resting"


PHASE_ATTENTION: Final[Mapping[Phase, Attention]] = {
    Phase.PENDING: Attention.WAITING,
    Phase.REJECTED: Attention.FAILED,
    Phase.LAUNCHING: Attention.WAITING,
    Phase.RUNNING: Attention.RUNNING,
    Phase.RESTARTING: Attention.WAITING,
    Phase.BACKING_OFF: Attention.FAILED,
    Phase.SUSPENDING: Attention.RESTING,
    Phase.SUSPENDED: Attention.RESTING,
    Phase.COMPLETED: Attention.RESTING,
    Phase.FAILED: Attention.FAILED,
}


def app_row(app: Manifest, dated: DatedReport | None) -> Document:
    """The row of an app. What is not known is None; times are seconds since 1970."""
    metadata, status = app["metadata"], app.get("status") or {}
    conditions = _conditions(status)
    unexpected = [condition for condition in conditions if not condition["expected"]]
    decisive = _decisive(status, unexpected)
    newest = max(conditions, key=lambda one: (one["at"] or 0.0, not one["expected"]), default=None)
    current = report_of_driver(app, dated)
    plan = status.get("plan") or {}
    return {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "phase": status.get("phase", UNKNOWN_PHASE),
        "attention": _attention(status, unexpected),
        "ready": next((one["status"] for one in conditions if one["type"] == ConditionType.READY), None),
        "reason": decisive["reason"] if decisive else "",
        "message": decisive["message"][:MAX_MESSAGE] if decisive else "",
        "generation": metadata.get("generation"),
        "acceptedGeneration": status.get("acceptedGeneration"),
        "plan": plan.get("outcome"),
        "lag": current.report.progress.lag if current else None,
        "reportedAt": current.written_at if current else None,
        "processors": status.get("processors"),
        "tasks": status.get("tasks"),
        "restarts": status.get("restarts"),
        "changedAt": newest["at"] if newest else None,
        "changed": f"{newest['type']} {newest['status']}: {newest['reason']}" if newest else "",
    }


def app_details(app: Manifest) -> Document:
    """The details of the chosen app that are shown beside its row."""
    metadata, spec, status = app["metadata"], app["spec"], app.get("status") or {}
    return {
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "facts": [[name, str(value)] for name, value in _facts(spec, status) if value not in (None, "")],
        "conditions": _conditions(status),
        "commands": list(_commands(app)),
    }


def _facts(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    driver, plan, model = current_driver({"status": status}), status.get("plan"), status.get("jobModel")
    ending = (status.get("driver") or {}).get("lastEnding")
    yield "application id", spec.get("applicationId")
    yield "operator class", spec.get("operatorClass")
    if plan:
        yield "plan", plan["outcome"]
        yield "streams", plan["streams"]
        yield "joins", plan["joins"]
    yield "job model", model and f"version {model['version']}, run {model['runId']}"
    yield "driver", driver.get("pod")
    yield "node", driver.get("node")
    yield "started at", driver.get("startedAt")
    if ending:
        message = f": {ending['message']}" if ending.get("message") else ""
        yield "last ending", f"{ending['outcome']}, {ending['reason']} at {ending['endedAt']}{message}"


def _commands(app: Manifest) -> Iterator[str]:
    metadata = app["metadata"]
    where = f"{metadata['name']} --namespace {metadata['namespace']}"
    yield f"streamapp why {where}"
    yield f"streamapp status {where}"
    if has_page(app):
        yield f"streamapp page {where}"
    yield f"streamapp history {where}"


def _conditions(status: Mapping[str, Any]) -> list[Document]:
    return [
        {
            "type": condition["type"],
            "status": condition["status"],
            "reason": condition["reason"],
            "message": condition["message"],
            "at": parse_timestamp(condition.get("lastTransitionTime")),
            "expected": condition["status"] == EXPECTED_STATUS.get(condition["type"]),
        }
        for condition in status.get("conditions") or ()
    ]


def _decisive(status: Mapping[str, Any], unexpected: list[Document]) -> Document | None:
    """The condition that the status's own reason is of, where something is the matter."""
    named = (condition for condition in unexpected if condition["reason"] == status.get("reason"))
    return next(named, unexpected[0] if unexpected else None)


def _attention(status: Mapping[str, Any], unexpected: list[Document]) -> Attention:
    try:
        attention = PHASE_ATTENTION[Phase(status["phase"])]
    except (KeyError, ValueError):  # of no operator yet, or of a newer one
        return Attention.WAITING
    if attention in {Attention.RUNNING, Attention.WAITING} and unexpected:
        stalled = any(one["type"] == ConditionType.STALLED for one in unexpected)
        return Attention.FAILED if stalled else Attention.WAITING
    return attention
