"""An app's status as a person reads it."""

from collections.abc import Iterator
from typing import Any

from streamapp_operator.controller.client.manifest import Manifest

_AS_IT_SHOULD = {
    "Accepted": "True", "Planned": "True", "Launched": "True", "Ready": "True",
    "Progressing": "False", "Degraded": "False", "Stalled": "False", "Suspended": "False",
}  # fmt: skip


def status_text(app: Manifest) -> str:
    """First what is, then what is not as it should be, with every reason."""
    metadata, status = app["metadata"], app.get("status") or {}
    head = f"{metadata['namespace']}/{metadata['name']}: {status.get('phase', 'Unknown')}"
    if not status:
        return f"{head}\n  no operator has looked at it yet\n"
    return "\n".join([head, *_facts(metadata, status), *_conditions(status)]) + "\n"


def _facts(metadata: dict[str, Any], status: dict[str, Any]) -> Iterator[str]:
    newest, runs = metadata.get("generation"), status.get("acceptedGeneration")
    yield f"  generation   {newest}" + (f", of which {runs or 'none'} runs" if newest != runs else "")
    plan, model = status.get("plan"), status.get("jobModel")
    if plan:
        yield f"  plan         {plan['outcome']}: {plan['streams']} streams, {plan['joins']} joins"
    if model:
        yield f"  job model    version {model['version']}, run {model['runId']}"
    if "tasks" in status:
        yield f"  tasks        {status['tasks']} on {status.get('processors', 0)} processors"
    driver = status.get("driver") or {}
    if driver:
        where = f" on {driver['node']}" if driver.get("node") else ""
        yield f"  driver       {driver.get('pod', 'none')}{where}, {status.get('restarts', 0)} restarts"
    if last := driver.get("lastEnding"):
        said = f": {last['message']}" if last.get("message") else ""
        yield f"  last ending  {last['outcome']}, {last['reason']} at {last['endedAt']}{said}"


def _conditions(status: dict[str, Any]) -> Iterator[str]:
    for one in status.get("conditions", ()):
        mark = " " if one["status"] == _AS_IT_SHOULD.get(one["type"]) else "*"
        yield f"{mark} {one['type']:<12} {one['status']:<8} {one['reason']}"
        if mark == "*":
            yield from (f"                        {line}" for line in one["message"].splitlines())
