"""Where an app is at home: the system that its streams are in, and the folder of its stores."""

from dataclasses import dataclass
from pathlib import Path

from streamapp.spec.app import StreamApp
from streamapp_runtime.systems.connection import Connection, Embedded


@dataclass(frozen=True, slots=True)
class Home:
    """What an app of this machine has to itself, and what it shares."""

    connection: Connection
    state: Path  # below which stores are kept


def embedded_home(folder: Path, *, sync: bool = False) -> Home:
    """Streams and stores below one folder."""
    return Home(Embedded(str(folder), sync), folder / "state")


def home_of(app: StreamApp, data: Path | None) -> Home:
    """The home of an app that can run."""
    said = app.spec.systems[0].embedded
    if said is None:
        raise TypeError("an app that can run has an embedded system")
    folder = (data or Path(said.path)).resolve()  # executors have working directories of their own
    return embedded_home(folder, sync=said.sync)
