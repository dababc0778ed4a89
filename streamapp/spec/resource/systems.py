"""The systems in which streams live: Kafka, or the embedded log of one machine."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from streamapp.spec.resource.base import OneOf, Part
from streamapp.spec.resource.field_marks import Crd, Effect
from streamapp.spec.resource.kafka_settings import refused_settings
from streamapp.spec.value_types.scalars import BrokerList, Name, ObjectName, ShortDuration, Text, UrlList


def _settings(settings: dict[str, str]) -> dict[str, str]:
    refused = refused_settings(settings, secret=False)
    if refused:
        why = "; ".join(f'"{name}": {why}' for name, why in refused.items())
        raise PydanticCustomError("client_settings", "{why}", {"why": why})
    return settings


class ObjectReference(Part):
    """An object in the app's own namespace."""

    name: ObjectName
    """Its name."""


class SchemaRegistry(Part):
    """The schema registry of a cluster; how it is logged in to stands in `config` and `configSecret`."""

    url: UrlList
    """Where it answers; of several the next one is asked where one does not."""
    timeout: ShortDuration = "10s"
    """How long an answer may take."""


class Kafka(Part):
    """A Kafka cluster."""

    bootstrap_servers: BrokerList
    """Brokers to start from, `host:port`, several joined by commas."""
    config_secret: ObjectReference | None = None
    """Secret whose entries are client settings (TLS, SASL); never logged."""
    config: Annotated[dict[str, Text], AfterValidator(_settings), Crd({"maxProperties": 128})] = {}
    """Further client settings, from the allowed list; none that is secret."""
    schema_registry: SchemaRegistry | None = None
    """The registry of the schemas that records of streams with `registry` are written by."""


class Embedded(Part):
    """A transactional log in a folder of this machine; no server."""

    path: Annotated[str, Field(min_length=1, max_length=1_024, examples=["data"])]
    """The folder, relative to where the app is run from."""
    sync: bool = False
    """Wait for the disk at every commit: a loss of power loses nothing, and throughput falls."""


class System(OneOf):
    """A named system of exactly one kind."""

    @classmethod
    def always(cls) -> frozenset[str]:
        """The fields that every kind has."""
        return frozenset({"name", "home"})

    name: Name
    """What streams call it by."""
    home: Annotated[bool | None, Effect.REFUSED] = None
    """The system of what the app makes: checkpoints, changelogs, intermediate streams; else the first one."""
    kafka: Annotated[Kafka | None, Effect.RESTART] = None
    """Streams are topics of a Kafka cluster."""
    embedded: Annotated[Embedded | None, Effect.REFUSED] = None
    """Streams are kept in a folder of this machine."""


def home_system(systems: Sequence[System]) -> System:
    """The system of checkpoints, changelogs, streams between stages and outboxes."""
    return next((system for system in systems if system.home), systems[0])
