"""The content of a model, apart from its version: as plain values, as canonical bytes, and as a hash.

The hash does not cover the version, so that "nothing changed" can be seen. It is taken over canonical JSON,
not over the compact form, so that neither another zlib nor a later format changes it. For the same reason a
value at its default is left out: a field that is added later leaves the hash of old models alone.
"""

import hashlib
import json
from dataclasses import replace
from typing import Any

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.task_model import TaskModel


def model_content(model: JobModel) -> dict[str, Any]:
    """Everything in a model but its version, in JSON's own types."""
    content: dict[str, Any] = {
        "applicationId": model.application_id,
        "runId": model.run_id,
        "processors": {name: list(tasks) for name, tasks in model.assignment().items()},
        "tasks": {task.name: _task(task) for task in model.tasks},
    }
    if model.broadcast:
        content["broadcast"] = [str(partition) for partition in model.broadcast]
    return content


def _task(task: TaskModel) -> dict[str, Any]:
    # Partition's own str() would cost a call for each of several hundred thousand.
    partitions = [f"{stream}#{index}" for stream, index in task.partitions]
    return {"partitions": partitions} | ({} if task.changelog is None else {"changelog": task.changelog})


def canonical_json(document: object) -> bytes:
    """JSON with sorted keys, no spaces, UTF-8: one sequence of bytes for one value."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def content_hash(model: JobModel) -> str:
    """SHA-256, in hexadecimal, of everything that a model says but its version."""
    return hashlib.sha256(canonical_json(model_content(model))).hexdigest()


def next_version(previous: JobModel | None, proposed: JobModel) -> JobModel:
    """The model to publish after `previous`: the same where nothing changed, else the next version."""
    if previous is None:
        return proposed
    if replace(proposed, version=previous.version) == previous:
        return previous
    return replace(proposed, version=previous.version + 1)
