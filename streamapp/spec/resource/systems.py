"""The systems of an app: those in which streams live, and those of tables and files."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from streamapp.spec.problem import nearest
from streamapp.spec.resource.base import OneOf, Part
from streamapp.spec.resource.field_marks import Crd, Effect
from streamapp.spec.resource.kafka_settings import refused_settings
from streamapp.spec.resource.streams import CsvSigns
from streamapp.spec.value_types.scalars import (
    BrokerList,
    Name,
    ObjectName,
    PythonReference,
    ShortDuration,
    Text,
    UrlList,
)


def _settings(settings: dict[str, str]) -> dict[str, str]:
    refused = refused_settings(settings, secret=False)
    if refused:
        why = "; ".join(f'"{name}": {why}' for name, why in refused.items())
        raise PydanticCustomError("client_settings", "{why}", {"why": why})
    return settings


POSTGRES_SECRETS: Final = frozenset({"password", "sslcert", "sslkey", "sslrootcert", "user"})
"""The entries that the Secret of a database may have, by libpq's names; certificates and keys as PEM."""
POSTGRES_SETTINGS: Final = frozenset(
    {
        "application_name",
        "channel_binding",
        "connect_timeout",
        "gssencmode",
        "keepalives_idle",
        "search_path",
        "sslmode",
        "target_session_attrs",
        "tcp_user_timeout",
        "user",
    }
)
"""The parameters of connections that the resource may say: none that is secret, or a file of the machine."""
_SECRET_STORAGE: Final = re.compile(
    r"secret|token|password|credential|authorization|access_key|account_key|sas|service_account|_file|_path"
)
"""Names of settings of stores that say secrets, or name files of the machine; a hyphen is an underscore."""
_LOGIN: Final = re.compile(r"://[^/@]*@|password=")
"""The login within a URL."""


def _postgres_settings(settings: dict[str, str]) -> dict[str, str]:
    refused = sorted(settings.keys() - POSTGRES_SETTINGS)
    secret = POSTGRES_SECRETS - POSTGRES_SETTINGS
    reasons = [
        f'"{name}": a secret; put it into the Secret that configSecret names'
        if name in secret
        else f'"{name}": not an allowed setting{nearest(name, sorted(POSTGRES_SETTINGS))}'
        for name in refused
    ]
    if reasons:
        raise PydanticCustomError("client_settings", "{why}", {"why": "; ".join(reasons)})
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


Evolution = Literal["none", "add"]
"""What becomes of columns that the app writes and a table lacks."""


class Postgres(Part):
    """The tables of a PostgreSQL database."""

    servers: BrokerList
    """Where it answers, `host:port`; of several joined by commas the next is asked where one does not."""
    database: Annotated[str, Field(min_length=1, max_length=63, examples=["shop"])]
    """The database."""
    config_secret: ObjectReference | None = None
    """Secret with `user`, `password`, and `sslrootcert`, `sslcert` and `sslkey` as PEM; never logged."""
    config: Annotated[dict[str, Text], AfterValidator(_postgres_settings), Crd({"maxProperties": 32})] = {}
    """Further parameters of the connection, by libpq's names, from the allowed list; none that is secret."""
    create_if_missing: bool = False
    """Create a table that is not there, by the columns of its stream."""
    evolve: Evolution = "none"
    """Add columns of a stream that its table lacks, before the start; with none they are refused."""


def _storage_settings(settings: dict[str, str]) -> dict[str, str]:
    secret = [
        name
        for name, value in sorted(settings.items())
        if _SECRET_STORAGE.search(name.lower().replace("-", "_")) or _LOGIN.search(value)
    ]
    if secret:
        names = ", ".join(f'"{name}"' for name in secret)
        why = f"{names}: a secret, or a file that has one; put it into the Secret that configSecret names"
        raise PydanticCustomError("client_settings", "{why}", {"why": why})
    return settings


class Delta(Part):
    """The Delta tables below a path."""

    path: Annotated[str, Field(min_length=1, max_length=1_024, examples=["s3://lake/shop"])]
    """A folder, or a URL such as `s3://bucket/folder`; tables are folders in it, named by `topic`."""
    config_secret: ObjectReference | None = None
    """Secret with settings of the store that are secret, such as `aws_secret_access_key`; never logged."""
    config: Annotated[dict[str, Text], AfterValidator(_storage_settings), Crd({"maxProperties": 32})] = {}
    """Settings of the store by the names of delta-rs, such as `aws_region`; none that is secret."""
    create_if_missing: bool = False
    """Create a table that is not there, by the columns of its stream."""
    evolve: Evolution = "none"
    """Add columns of a stream that its table lacks, before the start; with none they are refused."""
    commit_interval: ShortDuration = "60s"
    """How long rows wait for others to be committed with: each commit makes files."""


class Iceberg(Part):
    """The Iceberg tables of a namespace."""

    namespace: Annotated[str, Field(min_length=1, max_length=1_024, examples=["shop"])]
    """The namespace, whose levels dots part; tables are in it, named by `topic`."""
    catalog: Annotated[str, Field(min_length=1, max_length=255, examples=["lake"])] = "default"
    """The name of the catalog: those of a database are told apart by it."""
    config_secret: ObjectReference | None = None
    """Secret with properties of the catalog that are secret, such as `credential`; never logged."""
    config: Annotated[dict[str, Text], AfterValidator(_storage_settings), Crd({"maxProperties": 32})] = {}
    """Properties of the catalog by PyIceberg's names: `type`, `uri`, `warehouse`; none that is secret."""
    create_if_missing: bool = False
    """Create a table that is not there, by the columns of its stream, and its namespace."""
    evolve: Evolution = "none"
    """Add columns of a stream that its table lacks, before the start; with none they are refused."""
    commit_interval: ShortDuration = "60s"
    """How long rows wait for others to be committed with: each commit makes files."""


FileFormat = Literal["parquet", "csv", "json"]
"""The formats of files that are read."""


class PythonSink(Part):
    """The tables of a sink whose class is the app's own."""

    sink: PythonReference
    """The class, `package.module:Class`; the driver makes it with the settings."""
    config_secret: ObjectReference | None = None
    """Secret with settings that are secret; never logged."""
    config: Annotated[dict[str, Text], AfterValidator(_storage_settings), Crd({"maxProperties": 32})] = {}
    """Settings by names of the class's own; none that is secret."""
    create_if_missing: bool = False
    """Create a table that is not there, by the columns of its stream."""


class Files(Part):
    """The files below a path, which the app only reads."""

    path: Annotated[str, Field(min_length=1, max_length=1_024, examples=["s3://lake/exports"])]
    """A folder, or a URL such as `s3://bucket/folder`; `topic` is a file in it, or a folder of files."""
    format: FileFormat
    """How rows stand in the files: `csv` has a header, `json` an object in each line."""
    csv: CsvSigns | None = None
    """Signs other than commas and double quotes, for `format: csv`."""
    config_secret: ObjectReference | None = None
    """Secret with settings of the store that are secret, such as `secret_key`; never logged."""
    config: Annotated[dict[str, Text], AfterValidator(_storage_settings), Crd({"maxProperties": 32})] = {}
    """Settings of the store by the names of pyarrow, such as `region`; none that is secret."""


class System(OneOf):
    """A named system of exactly one kind."""

    @classmethod
    def always(cls) -> frozenset[str]:
        """The fields that every kind has."""
        return frozenset({"name", "home"})

    @classmethod
    def left_out(cls) -> Mapping[str, str]:
        """Kinds that there are not."""
        return {
            "parquet": "bare files have no transactions; use delta, whose tables are Parquet files, or read "
            "them by files"
        }

    name: Name
    """What streams call it by."""
    home: Annotated[bool | None, Effect.REFUSED] = None
    """The system of what the app makes: checkpoints, changelogs, intermediate streams; else the first one."""
    kafka: Annotated[Kafka | None, Effect.RESTART] = None
    """Streams are topics of a Kafka cluster."""
    embedded: Annotated[Embedded | None, Effect.REFUSED] = None
    """Streams are kept in a folder of this machine."""
    postgres: Annotated[Postgres | None, Effect.RESTART] = None
    """Streams are tables of a PostgreSQL database, written or read."""
    delta: Annotated[Delta | None, Effect.RESTART] = None
    """Streams are Delta tables, written or read."""
    iceberg: Annotated[Iceberg | None, Effect.RESTART] = None
    """Streams are Iceberg tables, written or read."""
    files: Annotated[Files | None, Effect.RESTART] = None
    """Streams are files, which are only read."""
    python: Annotated[PythonSink | None, Effect.RESTART] = None
    """Streams are tables of a sink of the app's own, which rows are only written to."""

    @property
    def has_tables(self) -> bool:
        """True if its streams are tables: rows are delivered there, or imported from there."""
        return self.kind in TABLE_KINDS

    @property
    def config_secret(self) -> ObjectReference | None:
        """The Secret by which it is reached, where it has one."""
        return getattr(self.body, "config_secret", None)


TABLE_KINDS: Final = frozenset({"delta", "files", "iceberg", "postgres", "python"})
"""The kinds of systems whose streams are tables."""
ONLY_READ: Final = frozenset({"files"})
ONLY_WRITTEN: Final = frozenset({"python"})

if not set(System.kinds()) >= TABLE_KINDS >= ONLY_READ | ONLY_WRITTEN:
    raise AssertionError("each kind of tables is a kind of system")


def home_system(systems: Sequence[System]) -> System:
    """The system of checkpoints, changelogs, streams between stages and outboxes."""
    of_streams = [system for system in systems if not system.has_tables]
    return next((system for system in systems if system.home), (of_streams or systems)[0])
