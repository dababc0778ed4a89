"""A look at the inputs of several systems, of which one cannot be opened for a while."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.answering_systems import AnsweringSystems, SilentSystem
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import EmbeddedConnection, StreamLocation, SystemConnections
from streamapp_runtime.systems.stream_system import UnavailableError

NEAR, FAR = Partition("views", 0), Partition("users", 0)
LOCATIONS = {"views": StreamLocation("home", "views"), "users": StreamLocation("shop", "users")}


@dataclass
class Look:
    """A look at two logs, with a clock of the test's own."""

    folder: Path
    systems: Systems
    now: float = 0.0
    changes: list[tuple[SilentSystem, ...]] = field(default_factory=list)
    answering: AnsweringSystems = field(init=False)

    def __post_init__(self) -> None:
        self.answering = AnsweringSystems(self.changes.append, lambda: self.now)

    def partitions(self) -> set[Partition]:
        return set(self.answering.spans(self.systems, [NEAR, FAR]))

    def after_a_second(self) -> set[Partition]:
        """The partitions that a look finds once the system was asked again, and has answered or not."""
        self.now += 1.0
        self.partitions()
        for probe in self.answering._probes.values():
            if probe.answer is not None:
                probe.answer.exception(30)
        return self.partitions()

    def take_away(self, name: str) -> None:
        """Put a file in the place of a log."""
        (self.folder / name).rename(self.folder / f"{name}.kept")
        (self.folder / name).write_text("no folder")

    def bring_back(self, name: str) -> None:
        (self.folder / name).unlink()
        (self.folder / f"{name}.kept").rename(self.folder / name)


@pytest.fixture
def look(tmp_path: Path) -> Iterator[Look]:
    by_name = {name: EmbeddedConnection(str(tmp_path / name)) for name in ("home", "shop")}
    connections = SystemConnections("home", by_name, LOCATIONS)
    with closing(Systems(connections)) as systems:
        for stream in LOCATIONS:
            systems.create(stream, 1)
    with closing(Systems(connections)) as systems:
        yield Look(tmp_path, systems)


def test_a_system_that_does_not_answer_is_left_out_until_it_does(look: Look) -> None:
    look.take_away("shop")
    assert look.partitions() == {NEAR}
    (silent,) = look.answering.silent
    assert (silent.name, silent.streams) == ("shop", ("users",))
    assert "the system shop does not answer, and nothing is read of users: " in str(silent)
    assert look.changes == [(silent,)]
    assert look.after_a_second() == {NEAR}
    assert look.answering.silent_seconds == 1.0
    look.bring_back("shop")
    assert look.after_a_second() == {NEAR, FAR}
    assert (look.answering.silent, look.answering.silent_seconds) == ((), 0.0)
    assert look.changes == [(silent,), ()]


def test_nobody_else_waits_for_a_silent_system(look: Look) -> None:
    look.take_away("shop")
    look.partitions()
    look.bring_back("shop")
    with pytest.raises(UnavailableError):  # at once: it is not asked
        look.systems.partitions("users")
    look.after_a_second()
    assert look.systems.partitions("users") == 1


def test_an_app_that_is_edited_is_asked_for_its_streams_where_they_are_now(look: Look) -> None:
    connections = look.systems.connections
    edited = SystemConnections(
        "home", connections.by_name, {**LOCATIONS, "carts": StreamLocation("shop", "users")}
    )
    look.take_away("shop")
    look.partitions()
    relocated = look.systems.relocated(edited)
    carts = Partition("carts", 0)
    assert set(look.answering.spans(relocated, [NEAR, carts])) == {NEAR}
    look.bring_back("shop")
    look.systems = relocated
    look.after_a_second()
    assert set(look.answering.spans(relocated, [NEAR, carts])) == {NEAR, carts}


def test_a_home_that_does_not_answer_is_an_error(look: Look) -> None:
    look.take_away("home")
    with pytest.raises(UnavailableError):
        look.partitions()
    assert not look.answering.silent
