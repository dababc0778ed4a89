"""An app's status as text for people."""

from collections.abc import Iterable, Iterator
from typing import Any

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.status.app_condition import EXPECTED_STATUS


def status_text(app: Manifest, start_lines: Iterable[str] = ()) -> str:
    """The app's phase and facts, then its conditions; each unexpected condition with its message."""
    metadata, status = app["metadata"], app.get("status") or {}
    head = f"{metadata['namespace']}/{metadata['name']}: {status.get('phase', 'Unknown')}"
    if not status:
        return f"{head}\n  no operator has looked at it yet\n"
    return "\n".join([head, *_facts(metadata, status), *start_lines, *_conditions(status)]) + "\n"


def _facts(metadata: dict[str, Any], status: dict[str, Any]) -> Iterator[str]:
    newest, accepted_generation = metadata.get("generation"), status.get("acceptedGeneration")
    yield f"  generation   {newest}" + (
        f", of which {accepted_generation or 'none'} runs" if newest != accepted_generation else ""
    )
    plan, model = status.get("plan"), status.get("jobModel")
    if plan:
        yield f"  plan         {plan['outcome']}: {plan['streams']} streams, {plan['joins']} joins"
    if model:
        yield f"  job model    version {model['version']}, run {model['runId']}"
    if "tasks" in status:
        yield f"  tasks        {status['tasks']} on {status.get('processors', 0)} processors"
    driver = status.get("driver") or {}
    if driver:
        location = f" on {driver['node']}" if driver.get("node") else ""
        yield f"  driver       {driver.get('pod', 'none')}{location}, {status.get('restarts', 0)} restarts"
    if last_ending := driver.get("lastEnding"):
        ending = f"{last_ending['outcome']}, {last_ending['reason']} at {last_ending['endedAt']}"
        message = f": {last_ending['message']}" if last_ending.get("message") else ""
        yield f"  last ending  {ending}{message}"


def _conditions(status: dict[str, Any]) -> Iterator[str]:
    for condition in status.get("conditions", ()):
        mark = " " if condition["status"] == EXPECTED_STATUS.get(condition["type"]) else "*"
        yield f"{mark} {condition['type']:<20} {condition['status']:<8} {condition['reason']}"
        if mark == "*":
            yield from (
                f"                                {line}" for line in condition["message"].splitlines()
            )
