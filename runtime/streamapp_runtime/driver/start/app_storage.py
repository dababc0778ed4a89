"""The storage of an app: the system that its streams are in, and the folder of its stores."""

from dataclasses import dataclass
from pathlib import Path

from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.systems import System
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.log_lines.python_logging import ProcessLogging
from streamapp_runtime.secret_sources import NO_SECRETS, SecretSources
from streamapp_runtime.systems.connection import Connection, EmbeddedConnection, KafkaConnection


@dataclass(frozen=True, slots=True)
class AppStorage:
    """The storage that an app of this machine has to itself, and that which it shares."""

    connection: Connection
    state: Path  # below which stores are kept
    secret_sources: SecretSources = NO_SECRETS  # of the Python workers
    logging: ProcessLogging | None = None  # of the Python workers; None: Python's own


def embedded_storage(folder: Path, *, sync: bool = False) -> AppStorage:
    """Streams and stores below one folder."""
    return AppStorage(EmbeddedConnection(str(folder), sync), folder / "state")


def storage_of(app: StreamApp, data: Path | None, secrets: Path | None = None) -> AppStorage:
    """The storage of an app that can run. Paths are absolute: executors have other working directories.

    `secrets` is where the entries of `configSecret` lie, or a folder that has a folder of each system's.
    """
    connection = connection_of(app.spec.systems[0], 0, data, secrets)
    if isinstance(connection, EmbeddedConnection):
        return embedded_storage(Path(connection.folder), sync=connection.sync)
    if data is None:
        raise _refused(0, "kafka", "the stores of the app need a folder; name one with --data")
    return AppStorage(connection, data.resolve() / "state")


def connection_of(system: System, index: int, data: Path | None, secrets: Path | None) -> Connection:
    """The connection to a system, the one of this index among the app's; `data` stands in for an own path."""
    if system.embedded is not None:
        return EmbeddedConnection(str((data or Path(system.embedded.path)).resolve()), system.embedded.sync)
    if system.kafka is None:
        raise TypeError("a system is of one kind")
    if system.kafka.config_secret is not None and secrets is None:
        raise _refused(index, "kafka.configSecret", _unknown_entries(system.kafka.config_secret.name))
    folder = None if secrets is None else _of_system(secrets, system.name)
    return KafkaConnection(system.kafka.bootstrap_servers, system.kafka.config, folder)


def _of_system(secrets: Path, name: str) -> str:
    folder = secrets / name
    return str((folder if folder.is_dir() else secrets).resolve())


def _unknown_entries(secret: str) -> str:
    """The reason why an app with a Secret is not reached from a machine that has none."""
    entries = f"--secrets ./{secret} (a folder with a file for each, or a file of key=value lines)"
    return f'outside of a cluster nothing is known of the Secret "{secret}"; name its entries: {entries}'


def _refused(index: int, field: str, message: str) -> AppRefusedError:
    return AppRefusedError([Problem(0, 0, f"spec.systems[{index}].{field}", message)])
