"""The storage of an app: the systems that its streams are in, and the folder of its stores."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamapp.author.app_streams import imports, outboxes
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import CsvSigns, Stream
from streamapp.spec.resource.systems import Kafka, SchemaRegistry, System
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.log_lines.python_logging import ProcessLogging
from streamapp_runtime.operators.stateless.stream_operations import declared_stream, side_name
from streamapp_runtime.secret_sources import NO_SECRETS, SecretSources
from streamapp_runtime.systems.connection import (
    Connection,
    DeltaConnection,
    EmbeddedConnection,
    FilesConnection,
    IcebergConnection,
    KafkaConnection,
    PostgresConnection,
    PythonConnection,
    RegistryConnection,
    StreamLocation,
    SystemConnections,
    TableConnection,
)


@dataclass(frozen=True, slots=True)
class AppStorage:
    """The storage that an app of this machine has to itself, and that which it shares."""

    systems: SystemConnections
    state: Path  # below which stores are kept
    secret_sources: SecretSources = NO_SECRETS  # of the Python workers
    logging: ProcessLogging | None = None  # of the Python workers; None: Python's own


def embedded_storage(folder: Path, app: StreamApp | None = None) -> AppStorage:
    """Streams and stores below one folder, all systems of the app too: a log each."""
    names = [system.name for system in app.spec.systems] if app else ["embedded"]
    home = app.spec.home.name if app else names[0]
    logs = {
        name: EmbeddedConnection(str(folder if name == home else folder / "systems" / name)) for name in names
    }
    if app is None:
        return AppStorage(SystemConnections(home, logs), folder / "state")
    return AppStorage(app_connections(app, logs), folder / "state")


def app_connections(app: StreamApp, by_name: Mapping[str, Connection]) -> SystemConnections:
    """The connections of an app, with the locations of its streams."""
    registries = {
        system.name: _registry(system.kafka, system.kafka.schema_registry, by_name[system.name])
        for system in app.spec.systems
        if system.kafka and system.kafka.schema_registry
    }
    home, tables = app.spec.home.name, stream_locations(app)
    imported = {
        stream: topic
        for stream, topic in imports(app).items()
        if isinstance(by_name[tables[stream].system], TableConnection)
    }
    locations = {
        stream: StreamLocation(home, imported[declared_stream(stream)])
        for stream in tables
        if declared_stream(stream) in imported
    }
    of_imports = {stream: tables[stream] for stream in imported}
    return SystemConnections(home, by_name, tables | locations, outboxes(app), of_imports, registries)


def _registry(kafka: Kafka, registry: SchemaRegistry, connection: Connection) -> RegistryConnection:
    """The connection to the registry of a cluster, with the secrets of that; a log in its place has none."""
    urls = tuple(url.strip().rstrip("/") for url in registry.url.split(","))
    secrets = connection.secrets if isinstance(connection, KafkaConnection) else None
    return RegistryConnection(urls, milliseconds(registry.timeout) / 1000, kafka.config, secrets)


def stream_registry(app: StreamApp, stream: Stream, secrets: Path | None) -> RegistryConnection | None:
    """The connection to the registry that has the schemas of a stream; None where it has none."""
    if not stream.needs_registry:
        return None
    for index, system in enumerate(app.spec.systems):
        if system.name == stream.system and system.kafka and system.kafka.schema_registry:
            connection = connection_of(system, index, None, secrets)
            return _registry(system.kafka, system.kafka.schema_registry, connection)
    return None


def stream_locations(app: StreamApp) -> dict[str, StreamLocation]:
    """The locations of the streams that an app declares, and of each as a table reads it."""
    declared = {
        stream.name: StreamLocation(stream.system, stream.topic or stream.name) for stream in app.spec.streams
    }
    sides = {
        side_name(side.stream, table.name): declared[side.stream]
        for table in app.spec.tables
        for side in table.side_inputs
    }
    return declared | sides


def storage_of(app: StreamApp, data: Path | None, secrets: Path | None = None) -> AppStorage:
    """The storage of an app that can run. Paths are absolute: executors have other working directories.

    `secrets` is where the entries of `configSecret` lie, or a folder that has a folder of each system's.
    """
    home = app.spec.home
    connections = {
        system.name: connection_of(system, index, data if system is home else None, secrets)
        for index, system in enumerate(app.spec.systems)
    }
    systems, at_home = app_connections(app, connections), connections[home.name]
    if isinstance(at_home, EmbeddedConnection):
        return AppStorage(systems, Path(at_home.folder) / "state")
    if data is None:
        message = "the stores of the app need a folder; name one with --data"
        raise _refused(app.spec.systems.index(home), "kafka", message)
    return AppStorage(systems, data.resolve() / "state")


def connection_of(system: System, index: int, data: Path | None, secrets: Path | None) -> Connection:
    """The connection to a system, the one of this index among the app's; `data` stands in for an own path."""
    if system.embedded is not None:
        return EmbeddedConnection(str((data or Path(system.embedded.path)).resolve()), system.embedded.sync)
    if system.config_secret is not None and secrets is None:
        raise _refused(index, f"{system.kind}.configSecret", _unknown_entries(system.config_secret.name))
    folder = None if secrets is None else _of_system(secrets, system.name)
    if system.kafka is not None:
        return KafkaConnection(system.kafka.bootstrap_servers, system.kafka.config, folder)
    return _table_connection(system, folder if system.config_secret else None)


def _table_connection(system: System, own: str | None) -> TableConnection:
    """The connection to a system of tables, with the folder of its secrets."""
    if system.postgres is not None:
        sink = system.postgres
        return PostgresConnection(
            sink.servers, sink.database, sink.config, own, sink.create_if_missing, sink.evolve == "add"
        )
    if system.delta is not None:
        lake = system.delta
        return DeltaConnection(
            _resolved(lake.path),
            lake.config,
            own,
            lake.create_if_missing,
            milliseconds(lake.commit_interval) / 1000,
            lake.evolve == "add",
        )
    if system.iceberg is not None:
        tables = system.iceberg
        return IcebergConnection(
            tables.catalog,
            tables.namespace,
            tables.config,
            own,
            tables.create_if_missing,
            milliseconds(tables.commit_interval) / 1000,
            tables.evolve == "add",
        )
    if system.files is not None:
        files = system.files
        return FilesConnection(
            _resolved(files.path), files.format, files.csv or CsvSigns(), files.config, own
        )
    if system.python is None:
        raise TypeError("a system is of one kind")
    own_sink = system.python
    return PythonConnection(own_sink.sink, own_sink.config, own, own_sink.create_if_missing)


def _resolved(path: str) -> str:
    return path if "://" in path else str(Path(path).resolve())


def _of_system(secrets: Path, name: str) -> str:
    folder = secrets / name
    return str((folder if folder.is_dir() else secrets).resolve())


def _unknown_entries(secret: str) -> str:
    """The reason why an app with a Secret is not reached from a machine that has none."""
    entries = f"--secrets ./{secret} (a folder with a file for each, or a file of key=value lines)"
    return f'outside of a cluster nothing is known of the Secret "{secret}"; name its entries: {entries}'


def _refused(index: int, field: str, message: str) -> AppRefusedError:
    return AppRefusedError([Problem(0, 0, f"spec.systems[{index}].{field}", message)])
