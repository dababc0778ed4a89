"""Schemas that are registered somewhere, by what records say of them."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol
from uuid import UUID

SchemaId = int | UUID
"""What a record says of its schema: a number of one registry, or an id that is the same in all."""


class SchemaDependency(NamedTuple):
    """A schema that others refer to, under the name that they call it by."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema, and all that it refers to: each once, behind those that it needs itself."""

    kind: str  # AVRO, PROTOBUF or JSON
    text: str
    dependencies: tuple[SchemaDependency, ...] = ()
    rules: tuple[str, ...] = ()  # the names of those that a reader would have to apply


class UnknownSchemaError(Exception):
    """No schema has this id, or what it refers to is not there; the message says which."""


class UnresolvableSchemaError(ValueError):
    """The writer's schema cannot be read as the columns; the message has the path and what is there."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path, self.reason = path, reason


class SchemaCompilerError(Exception):
    """The compiler of schemas could not be run, or did not end in time: trying again may help."""


class SchemaLookup(Protocol):
    """The schemas of a registry."""

    def schema(self, schema_id: SchemaId) -> RegisteredSchema:
        """The schema of an id; UnknownSchemaError where there is none.

        Where the registry cannot be asked, the error is that of a system that cannot be reached.
        """


class SchemaSubjects(Protocol):
    """The subjects of a registry, by name."""

    def newest(self, subject: str) -> int | None:
        """The id of the newest schema; None where there is no such subject."""

    def register(self, subject: str, text: str, kind: str = "AVRO") -> int:
        """The id of a schema, which is registered if it is not."""


class WritableSchemas(SchemaLookup, Protocol):
    """The schemas of a registry, and the subjects that say by which of them is written."""

    @property
    def subjects(self) -> SchemaSubjects:
        """The subjects."""


def shown_id(schema_id: SchemaId) -> str:
    """The id as messages have it."""
    return f"schema {schema_id}" if isinstance(schema_id, UUID) else f"schema id {schema_id}"
