"""The schemas of a registry, each asked for once: what an id names never changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from streamapp.spec.resource.kafka_settings import REGISTRY, REGISTRY_PREFIX
from streamapp_runtime.registered_schema import (
    RegisteredSchema,
    SchemaDependency,
    SchemaId,
    UnknownSchemaError,
    shown_id,
)
from streamapp_runtime.systems.kafka.schema_registry.registry_requests import (
    NotRegisteredError,
    RegistryRequests,
)
from streamapp_runtime.systems.kafka.schema_registry.registry_subjects import RegistrySubjects
from streamapp_runtime.systems.kafka.secret_settings import read_secrets
from streamapp_runtime.systems.stream_system import UnavailableError

_RULES = ("migrationRules", "domainRules", "encodingRules")

Version = tuple[str, int]
"""A version of a subject."""
Description = Mapping[str, Any]
"""A schema as a registry answers it: `schema`, `schemaType`, `references` and `ruleSet`."""
DescriptionLookup = Callable[[Version, str], Description]
"""The description of a version that something refers to; an UnknownSchemaError begins with the text."""


@dataclass(slots=True)
class RegistrySchemas:
    """The lookup of schemas by id, with what they refer to."""

    requests: RegistryRequests
    subjects: RegistrySubjects = field(init=False)
    _schemas: dict[SchemaId, RegisteredSchema] = field(default_factory=dict)
    _versions: dict[Version, Description] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.subjects = RegistrySubjects(self.requests)

    def schema(self, schema_id: SchemaId) -> RegisteredSchema:
        """The schema of an id. One that is not known is asked for again: it may be registered by then."""
        if schema_id not in self._schemas:
            kind = "ids" if isinstance(schema_id, int) else "guids"
            try:
                answer = self.requests.get(f"/schemas/{kind}/{schema_id}")
            except NotRegisteredError as error:
                raise UnknownSchemaError(f"{shown_id(schema_id)}: the registry says: {error}") from None
            self._schemas[schema_id] = described_schema(answer, shown_id(schema_id), self._version)
        return self._schemas[schema_id]

    def of_version(self, version: Version) -> RegisteredSchema:
        """The schema of a version of a subject; UnknownSchemaError where there is none."""
        name = f'"{version[0]}" of version {version[1]}'
        return described_schema(self._version(version), name, self._version)

    def _version(self, version: Version, asked_by: str = "") -> Description:
        if version not in self._versions:
            subject, number = version
            path = f"/subjects/{quote(subject, safe='')}/versions/{number}"
            try:
                self._versions[version] = self.requests.get(path)
            except NotRegisteredError as error:
                message = f'{asked_by}"{subject}" of version {number}: the registry says: {error}'
                raise UnknownSchemaError(message) from None
        return self._versions[version]


def described_schema(description: Description, name: str, version: DescriptionLookup) -> RegisteredSchema:
    """The schema of a description, with all that it refers to; UnknownSchemaError where that is not there."""
    needed: dict[Version, SchemaDependency] = {}
    _collect(description, needed, (), name, version)
    rules = description.get("ruleSet") or {}
    named = (str(rule.get("name")) for kind in _RULES for rule in rules.get(kind) or ())
    kind = str(description.get("schemaType") or "AVRO")
    return RegisteredSchema(kind, _text(description), tuple(needed.values()), tuple(named))


def _collect(
    description: Description,
    needed: dict[Version, SchemaDependency],
    within: tuple[Version, ...],
    name: str,
    version: DescriptionLookup,
) -> None:
    """Note the schemas that one refers to, each once, behind those that it refers to itself."""
    for reference in description.get("references") or ():
        referred = str(reference["subject"]), int(reference["version"])
        if referred in within:
            raise UnknownSchemaError(f'{name}: "{referred[0]}" of version {referred[1]} refers to itself')
        if referred not in needed:
            inside = version(referred, f"{name} refers to ")
            _collect(inside, needed, (*within, referred), name, version)
            needed[referred] = SchemaDependency(str(reference.get("name", "")), _text(inside))


def open_registry_schemas(
    urls: Sequence[str], timeout: float, settings: Mapping[str, str], secrets: str | None = None
) -> RegistrySchemas:
    """The schemas of the registry of a cluster that has these settings, and more in a folder of secrets."""
    every = dict(settings) | (read_secrets(Path(secrets)) if secrets else {})
    own = {name.removeprefix(REGISTRY_PREFIX): value for name, value in every.items() if name in REGISTRY}
    return RegistrySchemas(RegistryRequests(tuple(urls), timeout, own))


def _text(answer: Description) -> str:
    text = answer.get("schema")
    if not isinstance(text, str):
        raise UnavailableError("the schema registry cannot be asked: its answer has no schema")
    return text
