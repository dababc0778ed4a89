"""A schema registry in the test's own process, in place of the one that an app names."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from streamapp.spec.problem import nearest
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.spec.value_types.format_names import READ_ONLY
from streamapp_runtime.driver.start.app_storage import AppStorage, embedded_storage
from streamapp_runtime.driver.start.writer_schemas import key_subject_of, written_parts
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.debezium.written_changes import change_columns
from streamapp_runtime.registered_schema import RegisteredSchema, SchemaId, UnknownSchemaError, shown_id
from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import (
    Description,
    Version,
    described_schema,
)
from streamapp_runtime.testing.kit_errors import WrongUseError

SchemaSource = str | Mapping[str, Any]
"""The text of a schema; or one of Avro or JSON as the object that the text is.

Or, as registries take it, an object of `schema`, which is one of these, of `schemaType` and of `references`:
each with the `name` that the schema calls it by, its `subject`, and its `version`, the first if left out.
"""


class _Reference(NamedTuple):
    """A version of a subject, and the name that a schema refers to it by."""

    name: str
    subject: str
    version: int


class _Schema(NamedTuple):
    """A schema as it is registered."""

    kind: str
    text: str
    references: tuple[_Reference, ...] = ()

    @property
    def description(self) -> Description:
        """The schema as a registry answers it."""
        references = [reference._asdict() for reference in self.references]
        return {"schema": self.text, "schemaType": self.kind, "references": references}


@dataclass(slots=True)
class MemoryRegistry:
    """Schemas by their ids, and the ids of each subject, the newest last.

    As of any registry a schema has one id in all subjects. Whether a subject's schemas are compatible is not
    checked, as by one that is set to NONE.
    """

    _schemas: dict[SchemaId, _Schema] = field(default_factory=dict)
    _subjects: dict[str, list[int]] = field(default_factory=dict)

    @property
    def subjects(self) -> Self:
        """The subjects."""
        return self

    def schema(self, schema_id: SchemaId) -> RegisteredSchema:
        """The schema of an id; UnknownSchemaError where there is none, or none that it refers to."""
        if schema_id not in self._schemas:
            raise UnknownSchemaError(f"{shown_id(schema_id)}: the registry says: Schema not found")
        return described_schema(self._schemas[schema_id].description, shown_id(schema_id), self._version)

    def newest(self, subject: str) -> int | None:
        """The id of the newest schema; None where there is no such subject."""
        return self._subjects[subject][-1] if subject in self._subjects else None

    def register(
        self,
        subject: str,
        text: str,
        kind: str = "AVRO",
        schema_id: int | None = None,
        references: Sequence[tuple[str, str, int]] = (),
    ) -> int:
        """The id of a schema, which is registered if it is not; under this id, where one is named.

        References are names, subjects and versions. They are looked up when the schema is asked for.
        """
        registered = _Schema(kind, text, tuple(_Reference(*reference) for reference in references))
        ids = {schema: own_id for own_id, schema in self._schemas.items() if isinstance(own_id, int)}
        if schema_id is None:
            schema_id = ids.get(registered, max(ids.values(), default=0) + 1)
        if self._schemas.setdefault(schema_id, registered) != registered:
            raise WrongUseError(f"{shown_id(schema_id)} is another schema already")
        versions = self._subjects.setdefault(subject, [])
        if schema_id not in versions:
            versions.append(schema_id)
        return schema_id

    def _version(self, version: Version, asked_by: str) -> Description:
        subject, number = version
        ids = self._subjects.get(subject, [])
        if not 0 < number <= len(ids):
            words = f'{asked_by}"{subject}" of version {number}: the registry says: '
            raise UnknownSchemaError(f"{words}{'Version' if ids else 'Subject'} not found")
        return self._schemas[ids[number - 1]].description


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
    """The registry with schemas of an app's subjects; those whose ids the resource says have these.

    WrongUseError where a schema refers to one that is not there.
    """
    registry, subjects = MemoryRegistry(), _subjects_of(app)
    sources = {subject: _source(schema) for subject, schema in schemas.items()}
    for subject, source in sources.items():
        if subject in subjects:
            _add_referred(subjects, sources, source, source.kind or subjects[subject].kind)
    for subject in sorted(schemas, key=lambda name: name not in subjects or subjects[name].schema_id is None):
        _register(registry, subjects, subject, sources[subject])
    for subject in schemas:
        _check_references(registry, registry.newest(subject))
    for stream in app.spec.streams:
        if stream.registry and stream.format in READ_ONLY and stream.columns is not None:
            _register_own(registry, stream)
    return registry


def register_of_app(registry: MemoryRegistry, app: StreamApp, subject: str, schema: SchemaSource) -> int:
    """The id of a schema of an app's subject; WrongUseError where no stream has the subject.

    The schema is of the format of the stream, and the first one has the id that `writerSchema` names. One
    that others refer to is of their format.
    """
    subjects, source = _subjects_of(app), _source(schema)
    if subject not in subjects and (known := registry.newest(subject)) is not None:
        subjects[subject] = _SubjectOfApp(registry.schema(known).kind, None)
    schema_id = _register(registry, subjects, subject, source)
    _check_references(registry, schema_id)
    return schema_id


def _register_own(registry: MemoryRegistry, stream: Stream) -> None:
    """Register a schema of a stream of changes by its columns, where the test has given none."""
    (values, *_) = written_parts(stream)
    if registry.newest(values.subject) is None:
        columns = change_columns(parse_columns(stream.columns or ""), flattened=stream.flattened)
        registry.register(values.subject, values.kind.own_schema(arrow_schema(columns)), values.kind.name)


class _Source(NamedTuple):
    """The text of a schema, what it refers to, and its kind where it says that."""

    text: str
    references: tuple[_Reference, ...] = ()
    kind: str | None = None


def _source(schema: SchemaSource) -> _Source:
    if isinstance(schema, str):
        return _Source(schema)
    if "schema" not in schema or "type" in schema:
        return _Source(json.dumps(schema))
    inner, references = schema["schema"], schema.get("references") or ()
    text = inner if isinstance(inner, str) else json.dumps(inner)
    try:
        referred = tuple(
            _Reference(each["name"], each["subject"], each.get("version", 1)) for each in references
        )
    except (KeyError, TypeError, AttributeError):
        raise WrongUseError(f"{references!r}: a reference is a dict of name, subject and version") from None
    return _Source(text, referred, schema.get("schemaType"))


def _add_referred(
    subjects: dict[str, _SubjectOfApp], sources: Mapping[str, _Source], source: _Source, kind: str
) -> None:
    """Add the subjects that a schema of this kind refers to, and those that these refer to."""
    for reference in source.references:
        if reference.subject in sources and reference.subject not in subjects:
            subjects[reference.subject] = _SubjectOfApp(kind, None)
            _add_referred(subjects, sources, sources[reference.subject], kind)


def _register(
    registry: MemoryRegistry, subjects: Mapping[str, _SubjectOfApp], subject: str, source: _Source
) -> int:
    if subject not in subjects:
        raise WrongUseError(f'no stream has the subject "{subject}"{nearest(subject, list(subjects))}')
    kind, schema_id = subjects[subject]
    is_first = registry.newest(subject) is None
    named = schema_id if is_first else None
    return registry.register(subject, source.text, source.kind or kind, named, source.references)


def _check_references(registry: MemoryRegistry, schema_id: int | None) -> None:
    try:
        if schema_id is not None:
            registry.schema(schema_id)
    except UnknownSchemaError as unknown:
        raise WrongUseError(str(unknown)) from None


def _subjects_of(app: StreamApp) -> dict[str, _SubjectOfApp]:
    """The subjects of an app's streams; schemas of changes are Avro, unless they say another type."""
    subjects: dict[str, _SubjectOfApp] = {}
    for stream in app.spec.streams:
        if stream.registry and stream.format in READ_ONLY:
            subjects[key_subject_of(stream)] = _SubjectOfApp("AVRO", None)
        for part in written_parts(stream):
            subjects[part.subject] = _SubjectOfApp(part.kind.name, part.asked.id)
    return subjects
