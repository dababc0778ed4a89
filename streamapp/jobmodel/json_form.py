"""A job model as JSON, for people: a line for each processor and task, so that versions can be compared.

The checksum covers the whole document. Who writes or edits one by hand leaves it out.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from streamapp.jobmodel.job_model import InvalidJobModelError, JobModel
from streamapp.jobmodel.model_content import canonical_json, model_content
from streamapp.jobmodel.task_model import TaskModel
from streamapp.jobmodel.unreadable_data import ModelUnreadableError
from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition

_FORMAT = 1


def to_json(model: JobModel) -> str:
    """The model as a JSON document."""
    document = {"format": _FORMAT, "version": model.version, **model_content(model)}
    document["checksum"] = _checksum(document)
    lines = (f"  {json.dumps(key)}: {_value(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(text: str | bytes) -> JobModel:
    """The model from its JSON document, or a `ModelUnreadableError` that says what is wrong with it."""
    try:
        return _Document.model_validate(_sound(json.loads(text, object_pairs_hook=_once))).model()
    except ModelUnreadableError:
        raise
    except InvalidJobModelError as error:
        raise _refused(error.reason, str(error)) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(map(str, first["loc"]))
        raise _refused(Reason.DAMAGED_DATA, f"{path}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:  # no JSON, or a partition that is not written as one
        raise _refused(Reason.DAMAGED_DATA, str(error)) from error


def _value(value: object) -> str:
    if not isinstance(value, Mapping):
        return json.dumps(value)
    lines = (f"    {json.dumps(key)}: {json.dumps(entry)}" for key, entry in value.items())
    return "{\n" + ",\n".join(lines) + "\n  }" if value else "{}"


def _checksum(document: Mapping[str, Any]) -> str:
    return f"sha256:{hashlib.sha256(canonical_json(document)).hexdigest()}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} is given twice")
    return found


def _sound(document: object) -> dict[str, Any]:
    """The document without its checksum, which must be right where there is one."""
    if not isinstance(document, dict):
        raise _refused(Reason.DAMAGED_DATA, "it is no JSON object")
    checksum = document.pop("checksum", None)
    if checksum is not None and checksum != _checksum(document):
        raise _refused(Reason.DAMAGED_DATA, "its checksum differs", "after an edit by hand, leave it out")
    written = document.get("format")
    if isinstance(written, int) and written > _FORMAT:
        raise _refused(
            Reason.NEWER_FORMAT,
            f"it is written in format {written}; this version reads format {_FORMAT}",
            "use the version of streamapp that wrote it, or a later one",
        )
    return document


def _refused(reason: Reason, what: str, hint: str = "restore it or write it anew") -> ModelUnreadableError:
    return ModelUnreadableError(reason, f"the job model cannot be read: {what}", hint)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", alias_generator=to_camel)


class _Task(_Strict):
    partitions: list[str]
    changelog: int | None = None

    def model(self, name: str) -> TaskModel:
        return TaskModel(name, tuple(map(Partition.parse, self.partitions)), self.changelog)


class _Document(_Strict):
    format: int = Field(ge=_FORMAT)
    version: int
    run_id: str
    application_id: str
    processors: dict[str, list[str]]
    tasks: dict[str, _Task]
    broadcast: list[str] = []
    shared: bool = False

    def model(self) -> JobModel:
        return JobModel.of(
            version=self.version,
            run_id=self.run_id,
            application_id=self.application_id,
            tasks=[task.model(name) for name, task in self.tasks.items()],
            processors=self.processors,
            broadcast=map(Partition.parse, self.broadcast),
            shared=self.shared,
        )
