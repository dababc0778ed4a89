"""Where an app is at home: the system that its streams are in, and the folder of its stores."""

from dataclasses import dataclass
from pathlib import Path

from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp_runtime.driver.refused import RefusedError
from streamapp_runtime.systems.connection import Connection, Embedded, Kafka


@dataclass(frozen=True, slots=True)
class Home:
    """What an app of this machine has to itself, and what it shares."""

    connection: Connection
    state: Path  # below which stores are kept


def embedded_home(folder: Path, *, sync: bool = False) -> Home:
    """Streams and stores below one folder."""
    return Home(Embedded(str(folder), sync), folder / "state")


def home_of(app: StreamApp, data: Path | None, secrets: Path | None = None) -> Home:
    """The home of an app that can run. Paths are absolute: executors have working directories of their own.

    `secrets` is where the entries of `configSecret` lie, or a folder that has a folder of each system's.
    """
    system = app.spec.systems[0]
    if system.embedded is not None:
        return embedded_home((data or Path(system.embedded.path)).resolve(), sync=system.embedded.sync)
    if system.kafka is None:
        raise TypeError("a system is of one kind")
    if data is None:
        raise _refused("kafka", "the stores of the app need a folder; name one with --data")
    if system.kafka.config_secret is not None and secrets is None:
        raise _refused("kafka.configSecret", "outside a cluster, name its entries' folder with --secrets")
    place = None if secrets is None else _of_system(secrets, system.name)
    connection = Kafka(system.kafka.bootstrap_servers, system.kafka.config, place)
    return Home(connection, data.resolve() / "state")


def _of_system(secrets: Path, name: str) -> str:
    own = secrets / name
    return str((own if own.is_dir() else secrets).resolve())


def _refused(field: str, message: str) -> RefusedError:
    return RefusedError([Problem(0, 0, f"spec.systems[0].{field}", message)])
