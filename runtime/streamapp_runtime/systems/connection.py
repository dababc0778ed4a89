"""The connections to an app's systems: values that travel to every process of an app.

What is secret does not travel: a connection names the folder where it lies, and each process reads it there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from streamapp.spec.resource.streams import CsvSigns
from streamapp.spec.resource.systems import FileFormat
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.embedded.lmdb_environment import DATA_FILE
from streamapp_runtime.systems.stream_system import InvalidSettingsError, StreamSystem

if TYPE_CHECKING:
    from streamapp_runtime.registered_schema import WritableSchemas
    from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import RegistrySchemas
    from streamapp_runtime.systems.sinks.delta_sink import DeltaSink
    from streamapp_runtime.systems.sinks.iceberg_sink import IcebergSink
    from streamapp_runtime.systems.sinks.postgres_sink import PostgresSink
    from streamapp_runtime.systems.sinks.sink import Sink
    from streamapp_runtime.systems.sources.table_source import TableSource


@dataclass(frozen=True, slots=True)
class EmbeddedConnection:
    """A log in a folder of this machine."""

    folder: str
    sync: bool = False

    @property
    def has_log(self) -> bool:
        """True once the log is there: to open one that is not would make it."""
        return Path(self.folder, DATA_FILE).exists()


@dataclass(frozen=True, slots=True)
class KafkaConnection:
    """A cluster, and how its clients are set up."""

    bootstrap_servers: str
    settings: Mapping[str, str] = field(default_factory=dict)  # as the resource says them
    secrets: str | None = None  # the folder of those that it does not say


@dataclass(frozen=True, slots=True)
class PostgresConnection:
    """A database, and how its sessions are set up."""

    servers: str
    database: str
    settings: Mapping[str, str] = field(default_factory=dict)  # as the resource says them
    secrets: str | None = None  # the folder of those that it does not say
    create_if_missing: bool = False
    add_columns: bool = False  # those that a table lacks


@dataclass(frozen=True, slots=True)
class DeltaConnection:
    """The tables below a path, and how their store is reached."""

    path: str
    settings: Mapping[str, str] = field(default_factory=dict)  # as the resource says them
    secrets: str | None = None  # the folder of those that it does not say
    create_if_missing: bool = False
    commit_seconds: float = 0.0  # how long rows wait for others to be committed with
    add_columns: bool = False  # those that a table lacks


@dataclass(frozen=True, slots=True)
class IcebergConnection:
    """The tables of a namespace, and how their catalog is reached."""

    catalog: str
    namespace: str
    settings: Mapping[str, str] = field(default_factory=dict)  # as the resource says them
    secrets: str | None = None  # the folder of those that it does not say
    create_if_missing: bool = False
    commit_seconds: float = 0.0  # how long rows wait for others to be committed with
    add_columns: bool = False  # those that a table lacks


@dataclass(frozen=True, slots=True)
class PythonConnection:
    """The tables of a sink of the app's own."""

    sink: str  # package.module:Class
    settings: Mapping[str, str] = field(default_factory=dict)  # as the resource says them
    secrets: str | None = None  # the folder of those that it does not say
    create_if_missing: bool = False


@dataclass(frozen=True, slots=True)
class FilesConnection:
    """The files below a path, and how their store is reached."""

    path: str
    format: FileFormat
    signs: CsvSigns
    settings: Mapping[str, str] = field(default_factory=dict)  # as the resource says them
    secrets: str | None = None  # the folder of those that it does not say


LakeConnection = DeltaConnection | IcebergConnection
"""The connections to sinks that commit each table by itself, and make files with each commit."""
SinkConnection = PostgresConnection | LakeConnection | PythonConnection
TableConnection = SinkConnection | FilesConnection
"""The connections to systems of tables."""
Connection = EmbeddedConnection | KafkaConnection | TableConnection


@dataclass(frozen=True, slots=True)
class RegistryConnection:
    """A schema registry, and how its client is set up."""

    urls: tuple[str, ...]
    timeout: float  # seconds
    settings: Mapping[str, str] = field(
        default_factory=dict
    )  # of the cluster, those of the registry among them
    secrets: str | None = None  # the folder of those that these do not say


@dataclass(frozen=True, slots=True)
class StreamLocation:
    """The topic that a stream is, and the system that the topic is in."""

    system: str
    topic: str

    def label(self, home: str) -> str:
        """The name of the topic, which says the system where that is not the home."""
        return self.topic if self.system == home else f"{self.system}/{self.topic}"


@dataclass(frozen=True, slots=True)
class SystemConnections:
    """The connections to an app's systems by name, and the locations of its streams.

    A stream without a location is one that the app makes: it is in the home, under its own name.
    """

    home: str
    by_name: Mapping[str, Connection]
    locations: Mapping[str, StreamLocation] = field(default_factory=dict)
    outboxes: Mapping[str, str] = field(default_factory=dict)  # of the home, for streams of other systems
    imports: Mapping[str, StreamLocation] = field(
        default_factory=dict
    )  # the table of each stream whose location is one of the home that its rows are imported into
    registries: Mapping[str, "RegistryConnection | WritableSchemas"] = field(
        default_factory=dict
    )  # of those systems that have one; schemas of a test are open already

    def location(self, stream: str) -> StreamLocation:
        """The location of a stream of the app."""
        return self.locations.get(stream) or StreamLocation(self.home, stream)

    def label(self, stream: str) -> str:
        """The name of a stream's topic, which says the system of one that is not in the home."""
        return self.location(stream).label(self.home)

    def of_stream(self, stream: str) -> Connection:
        """The connection to the system of a stream."""
        return self.by_name[self.location(stream).system]

    def is_table(self, stream: str) -> bool:
        """True if a stream is a table, and not what is imported of one."""
        return isinstance(self.of_stream(stream), TableConnection)

    @property
    def of_home(self) -> Connection:
        """The connection to the home."""
        return self.by_name[self.home]


def system_opener(connection: Connection) -> Callable[[], StreamSystem]:
    """The function that opens the system, with its clients imported: nothing else imports those of Kafka."""
    if isinstance(connection, EmbeddedConnection):
        return partial(EmbeddedSystem, connection.folder, sync=connection.sync)
    if isinstance(connection, TableConnection):
        raise TypeError("a system of tables is no system of streams")
    from streamapp_runtime.systems.kafka.kafka_system import open_kafka

    return partial(open_kafka, connection.bootstrap_servers, connection.settings, connection.secrets)


def open_system(connection: Connection) -> StreamSystem:
    """The system, for use by this process."""
    return system_opener(connection)()


def open_sink(connection: SinkConnection) -> "Sink":
    """The sink, of which nothing is asked yet; InvalidSettingsError where its client is not installed."""
    return _SINKS[type(connection)](connection)


def open_source(connection: TableConnection) -> "TableSource":
    """The source of tables, of which nothing is asked yet; InvalidSettingsError without its client."""
    match connection:
        case FilesConnection():
            from streamapp_runtime.systems.sources.file_source import FileSource

            settings = _all_settings(connection)
            return FileSource(connection.path, connection.format, settings, connection.signs)
        case PostgresConnection():
            session = _postgres(connection).session
            from streamapp_runtime.systems.sources.postgres_source import PostgresSource

            return PostgresSource(session)
        case DeltaConnection() | IcebergConnection():
            from streamapp_runtime.systems.sources.lake_source import LakeSource

            lake = _delta(connection) if isinstance(connection, DeltaConnection) else _iceberg(connection)
            return LakeSource(lake)
        case PythonConnection():
            raise TypeError("a sink of the app's own is no source")


def _postgres(connection: PostgresConnection) -> "PostgresSink":
    from streamapp_runtime.systems.sinks.postgres_settings import connection_parameters

    try:
        from streamapp_runtime.systems.sinks.postgres_session import PostgresSession
        from streamapp_runtime.systems.sinks.postgres_sink import PostgresSink
    except ImportError as missing:
        raise _missing("postgres", missing) from None
    parameters = connection_parameters(
        connection.servers, connection.database, connection.settings, connection.secrets
    )
    return PostgresSink(
        PostgresSession(parameters),
        create_if_missing=connection.create_if_missing,
        add_columns=connection.add_columns,
    )


def _delta(connection: DeltaConnection) -> "DeltaSink":
    try:
        from streamapp_runtime.systems.sinks.delta_sink import DeltaSink
    except ImportError as missing:
        raise _missing("delta", missing) from None
    return DeltaSink(
        connection.path,
        _all_settings(connection),
        create_if_missing=connection.create_if_missing,
        add_columns=connection.add_columns,
    )


def _iceberg(connection: IcebergConnection) -> "IcebergSink":
    try:
        from streamapp_runtime.systems.sinks.iceberg_sink import IcebergSink
    except ImportError as missing:
        raise _missing("iceberg", missing) from None
    return IcebergSink(
        connection.catalog,
        tuple(connection.namespace.split(".")),
        _all_settings(connection),
        create_if_missing=connection.create_if_missing,
        add_columns=connection.add_columns,
    )


def _python(connection: PythonConnection) -> "Sink":
    from streamapp_runtime.systems.sinks.user_sink import made_sink

    return made_sink(connection.sink, _all_settings(connection), connection.create_if_missing)


def _all_settings(connection: LakeConnection | PythonConnection | FilesConnection) -> dict[str, str]:
    """The settings that the resource says, with those that it does not."""
    from streamapp_runtime.systems.secret_entries import secret_entries

    secrets = secret_entries(Path(connection.secrets)) if connection.secrets else {}
    return {**connection.settings, **secrets}


def _missing(extra: str, error: ImportError) -> InvalidSettingsError:
    return InvalidSettingsError(f"{error.name} is not installed; pip install 'streamapp[{extra}]'")


_SINKS: Mapping[type, Callable[..., "Sink"]] = {
    PostgresConnection: _postgres,
    DeltaConnection: _delta,
    IcebergConnection: _iceberg,
    PythonConnection: _python,
}


def open_registry(connection: RegistryConnection) -> "RegistrySchemas":
    """The schemas of a registry; nothing is asked yet."""
    from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import open_registry_schemas

    return open_registry_schemas(connection.urls, connection.timeout, connection.settings, connection.secrets)
