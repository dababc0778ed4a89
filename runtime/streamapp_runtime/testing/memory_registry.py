"""A schema registry in the test's own process, in place of the one that an app names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from streamapp.spec.problem import nearest
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage
from streamapp_runtime.driver.start.writer_schemas import key_subject_of, subject_of, written_parts
from streamapp_runtime.registered_schema import RegisteredSchema, SchemaId, UnknownSchemaError, shown_id
from streamapp_runtime.testing.kit_errors import WrongUseError

SchemaSource = str | Mapping[str, Any]
"""The text of a schema; or one of Avro or JSON as the object that the text is."""


@dataclass(slots=True)
class MemoryRegistry:
    """Schemas by their ids, and the ids of each subject, the newest last.

    As of any registry a schema has one id in all subjects. Whether a subject's schemas are compatible is not
    checked, as by one that is set to NONE.
    """

    _schemas: dict[SchemaId, RegisteredSchema] = field(default_factory=dict)
    _subjects: dict[str, list[int]] = field(default_factory=dict)

    @property
    def subjects(self) -> Self:
        """The subjects."""
        return self

    def schema(self, schema_id: SchemaId) -> RegisteredSchema:
        """The schema of an id; UnknownSchemaError where there is none."""
        if schema_id not in self._schemas:
            raise UnknownSchemaError(f"{shown_id(schema_id)}: the registry says: Schema not found")
        return self._schemas[schema_id]

    def newest(self, subject: str) -> int | None:
        """The id of the newest schema; None where there is no such subject."""
        return self._subjects[subject][-1] if subject in self._subjects else None

    def register(self, subject: str, text: str, kind: str = "AVRO", schema_id: int | None = None) -> int:
        """The id of a schema, which is registered if it is not; under this id, where one is named."""
        registered = RegisteredSchema(kind, text)
        ids = {schema: own_id for own_id, schema in self._schemas.items() if isinstance(own_id, int)}
        if schema_id is None:
            schema_id = ids.get(registered, max(ids.values(), default=0) + 1)
        if self._schemas.setdefault(schema_id, registered) != registered:
            raise WrongUseError(f"{shown_id(schema_id)} is another schema already")
        versions = self._subjects.setdefault(subject, [])
        if schema_id not in versions:
            versions.append(schema_id)
        return schema_id


@dataclass(frozen=True, slots=True)
class TestedStorage:
    """The folder of a test's streams and stores, and the registry that stands in for those of the systems."""

    folder: Path
    registry: MemoryRegistry | None  # None: each system has its own

    def of(self, app: StreamApp) -> AppStorage:
        """The storage of an app."""
        storage = embedded_storage(self.folder, app)
        if self.registry is None:
            return storage
        registries = dict.fromkeys(storage.systems.registries, self.registry)
        return replace(storage, systems=replace(storage.systems, registries=registries))


class _SubjectOfApp(NamedTuple):
    """The kind of a subject's schemas, and the id that the resource says of the one to write by."""

    kind: str
    schema_id: int | None


def registry_of_app(app: StreamApp, schemas: Mapping[str, SchemaSource]) -> MemoryRegistry:
    """The registry with schemas of an app's subjects; those whose ids the resource says have these."""
    registry, subjects = MemoryRegistry(), _subjects_of(app)
    for subject in sorted(schemas, key=lambda name: name not in subjects or subjects[name].schema_id is None):
        register_of_app(registry, app, subject, schemas[subject])
    return registry


def register_of_app(registry: MemoryRegistry, app: StreamApp, subject: str, schema: SchemaSource) -> int:
    """The id of a schema of an app's subject; WrongUseError where no stream has the subject.

    The schema is of the format of the stream, and the first one has the id that `writerSchema` names.
    """
    subjects = _subjects_of(app)
    if subject not in subjects:
        raise WrongUseError(f'no stream has the subject "{subject}"{nearest(subject, list(subjects))}')
    kind, schema_id = subjects[subject]
    text = schema if isinstance(schema, str) else json.dumps(schema)
    is_first = registry.newest(subject) is None
    return registry.register(subject, text, kind, schema_id if is_first else None)


def _subjects_of(app: StreamApp) -> dict[str, _SubjectOfApp]:
    """The subjects of an app's streams; those of changes have schemas of Avro."""
    subjects: dict[str, _SubjectOfApp] = {}
    for stream in app.spec.streams:
        if stream.registry and not any(written_parts(stream)):
            subjects |= dict.fromkeys(
                (subject_of(stream), key_subject_of(stream)), _SubjectOfApp("AVRO", None)
            )
        for part in written_parts(stream):
            subjects[part.subject] = _SubjectOfApp(part.kind.name, part.asked.id)
    return subjects
