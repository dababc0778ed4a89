"""A newer version of a table is imported while the app runs, and a part of one is never seen."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from streamapp_runtime.driver.imports import table_records
from streamapp_runtime.driver.imports.table_refreshes import RETRY_SECONDS, TableRefreshes
from streamapp_runtime.driver.page.newest_rows import MOST_ROWS, newest_rows
from streamapp_runtime.lanes.records.version_end import IMPORT_ABANDONED, IMPORT_ENDED
from streamapp_runtime.systems.stream_system import FencedError
from tests.harness.engine.imported_table import ImportedApp, refreshed_app

REFRESH_SECONDS = 60.0


class RefreshingDriver:
    """A driver that refreshes tables by a clock of the test."""

    def __init__(self, folder: Path) -> None:
        system = {"files": {"path": str(folder), "format": "json"}}
        app = refreshed_app(system, "id BIGINT", key="id", partitions=3, refresh="1m")
        self.imported = ImportedApp(folder / "home", app)
        self.imported.start()
        self.now = 0.0
        connections = self.imported.systems.connections
        self.refreshes = TableRefreshes(
            lambda: (app, connections), self.imported.ledger, clock=lambda: self.now
        )

    def look(self, after: float = REFRESH_SECONDS) -> None:
        self.now += after
        self.refreshes.look()

    def versions(self) -> list[tuple[bytes, list[int]]]:
        """The end of each version that is in the stream, and its rows; the same in all partitions."""
        ends: dict[int, list[tuple[bytes, list[int]]]] = {}
        rows: dict[int, list[int]] = {}
        for partition, record in self.imported.records():
            value = record["value"]
            if value in {IMPORT_ENDED, IMPORT_ABANDONED}:
                ends.setdefault(partition, []).append((value, rows.pop(partition, [])))
            else:
                rows.setdefault(partition, []).append(json.loads(value)["id"])
        signs = {tuple(sign for sign, _ in versions) for versions in ends.values()}
        assert len(signs) == 1, signs
        together = zip(*ends.values(), strict=True)
        return [(parts[0][0], sorted(n for _, part in parts for n in part)) for parts in together]

    def close(self) -> None:
        self.refreshes.close()
        self.imported.close()


class KilledError(BaseException):
    """The end of a driver in the middle of an import."""


def killed_at(last: int) -> Callable[[str], None]:
    """A crash point that ends the driver when it has come to so many steps of imports."""
    steps: list[str] = []

    def come_to(step: str) -> None:
        steps.append(step)
        if sum(one in {"import.chunk", "refresh.imported"} for one in steps) == last:
            raise KilledError

    return come_to


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_records, "CHUNK_ROWS", 10)


@pytest.fixture
def drivers(tmp_path: Path) -> Iterator[list[RefreshingDriver]]:
    made: list[RefreshingDriver] = []
    yield made
    for driver in made:
        driver.close()


def write(folder: Path, first: int, count: int) -> list[int]:
    numbers = list(range(first, first + count))
    (folder / "sales").write_text("".join(json.dumps({"id": n}) + "\n" for n in numbers))
    return numbers


def driver(folder: Path, drivers: list[RefreshingDriver]) -> RefreshingDriver:
    drivers.append(RefreshingDriver(folder))
    return drivers[-1]


def test_a_table_that_has_not_changed_is_not_imported_again(
    tmp_path: Path, drivers: list[RefreshingDriver]
) -> None:
    rows = write(tmp_path, 0, 25)
    running = driver(tmp_path, drivers)
    running.look()
    running.look()
    assert running.versions() == [(IMPORT_ENDED, rows)]
    assert [(one.versions, one.trouble) for one in running.refreshes.statuses] == [(0, "")]


def test_a_newer_version_is_imported_when_it_is_due(tmp_path: Path, drivers: list[RefreshingDriver]) -> None:
    first = write(tmp_path, 0, 25)
    running = driver(tmp_path, drivers)
    running.look()
    second = write(tmp_path, 100, 42)
    running.look(after=1)
    assert running.versions() == [(IMPORT_ENDED, first)]
    running.look()
    whole = [rows for sign, rows in running.versions() if sign == IMPORT_ENDED]
    assert whole == [first, second]
    assert [(one.rows, one.versions) for one in running.refreshes.statuses] == [(42, 1)]
    app, connections = running.refreshes.running()
    shown = newest_rows(app, connections, "in").splitlines()
    assert len(shown) == MOST_ROWS
    assert all('{"id":' in line for line in shown)


def test_the_stream_keeps_two_versions(tmp_path: Path, drivers: list[RefreshingDriver]) -> None:
    write(tmp_path, 0, 25)
    running = driver(tmp_path, drivers)
    written = []
    for version in range(1, 6):
        written.append(write(tmp_path, version * 100, 25 + version))
        running.look()
    assert [rows for sign, rows in running.versions() if sign == IMPORT_ENDED] == written[-2:]


def test_drivers_that_are_killed_leave_no_part_of_a_version(
    tmp_path: Path, drivers: list[RefreshingDriver], monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(5)  # noqa: S311
    written = [write(tmp_path, 0, 25)]
    for version in range(1, 9):
        running = driver(tmp_path, drivers)
        killed = killed_at(dice.randrange(1, 5))
        written.append(write(tmp_path, version * 100, 35))
        with monkeypatch.context() as patched, suppress(KilledError):
            patched.setattr("streamapp_runtime.driver.imports.table_import.crash_point", killed)
            patched.setattr("streamapp_runtime.driver.imports.table_refreshes.crash_point", killed)
            running.look()
        running.close()
        drivers.remove(running)
    last = write(tmp_path, 1_000, 12)
    running = driver(tmp_path, drivers)
    running.look()
    whole = [rows for sign, rows in running.versions() if sign == IMPORT_ENDED]
    assert whole[-1] == last
    assert all(rows in written for rows in whole[:-1])


def test_a_table_that_cannot_be_read_is_looked_at_again(
    tmp_path: Path, drivers: list[RefreshingDriver]
) -> None:
    first = write(tmp_path, 0, 25)
    running = driver(tmp_path, drivers)
    (tmp_path / "sales").unlink()
    running.look()
    (status,) = running.refreshes.statuses
    assert "there are no files" in status.trouble
    second = write(tmp_path, 100, 5)
    running.look(after=RETRY_SECONDS)
    (status,) = running.refreshes.statuses
    assert (status.trouble, status.failures, status.versions) == ("", 1, 1)
    assert [rows for sign, rows in running.versions() if sign == IMPORT_ENDED] == [first, second]


def test_a_driver_whose_place_is_taken_refreshes_nothing(
    tmp_path: Path, drivers: list[RefreshingDriver]
) -> None:
    write(tmp_path, 0, 25)
    running = driver(tmp_path, drivers)
    driver(tmp_path, drivers)
    write(tmp_path, 100, 5)
    with pytest.raises(FencedError):
        running.look()
