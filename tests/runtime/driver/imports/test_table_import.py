"""A table is imported once, whatever becomes of the drivers that do it."""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from streamapp.spec.parser import parse_data
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.imports import table_records
from streamapp_runtime.driver.imports.imported_table import ImportedTable
from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.systems.stream_system import FencedError
from tests.harness.core.app_resources import app_resource
from tests.harness.engine.imported_table import HOME, ImportedApp, reading_app

Made = Callable[..., ImportedApp]


class KilledError(BaseException):
    """The end of a driver in the middle of an import."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_records, "CHUNK_ROWS", 10)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sales"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    apps: list[ImportedApp] = []

    def make(columns: str = "id BIGINT", **stream: Any) -> ImportedApp:
        system = {"files": {"path": str(tmp_path), "format": "json"}}
        declared = {"key": "id", "partitions": 3} | stream
        apps.append(ImportedApp(tmp_path / "home", reading_app(system, columns, **declared)))
        return apps[-1]

    yield make
    for app in apps:
        app.close()


def write(file: Path, first: int, count: int) -> None:
    file.write_text("".join(json.dumps({"id": n}) + "\n" for n in range(first, first + count)))


def ids(app: ImportedApp) -> list[int]:
    return sorted(row["id"] for row in app.rows())


def killed_at(rows: int) -> Callable[[ImportProgress], None]:
    def importing(progress: ImportProgress) -> None:
        if progress.rows >= rows:
            raise KilledError

    return importing


def test_a_restart_does_not_import_again(file: Path, made: Made) -> None:
    write(file, 0, 25)
    app = made()
    imported = app.start()
    write(file, 100, 25)
    assert made().start() == imported
    assert ids(app) == list(range(25))


def test_progress_is_told_after_each_chunk(file: Path, made: Made) -> None:
    write(file, 0, 25)
    told: list[ImportProgress] = []
    made().start(told.append)
    assert [(one.rows, one.ended) for one in told] == [(10, False), (20, False), (25, False), (25, True)]


def test_an_import_that_was_abandoned_is_begun_again_from_the_table_of_then(file: Path, made: Made) -> None:
    dice = random.Random(3)  # noqa: S311
    app = made()
    for attempt in range(8):
        write(file, attempt * 100, 35)
        with suppress(KilledError):
            app.start(killed_at(dice.randrange(10, 36)))
    write(file, 1_000, 42)
    imported = app.start()
    assert ids(app) == list(range(1_000, 1_042))
    assert sum(span.oldest for span in imported.spans) > 0


def test_a_driver_whose_place_is_taken_writes_nothing_more(file: Path, made: Made) -> None:
    write(file, 0, 42)
    app, other = made(), made()

    def overtaken(progress: ImportProgress) -> None:
        if progress.rows == 20:
            other.start()

    with pytest.raises(FencedError):
        app.start(overtaken)
    assert ids(app) == list(range(42))


def test_a_state_that_is_given_up_has_the_table_imported_again(file: Path, made: Made) -> None:
    write(file, 0, 25)
    made().start()
    write(file, 100, 5)
    app = made(partitions=5)
    app.start(fresh=True)
    assert ids(app) == list(range(100, 105))
    assert app.systems.partitions("in") == 5


def test_fewer_partitions_than_its_stream_has_are_refused(file: Path, made: Made) -> None:
    write(file, 0, 25)
    made().start()
    with pytest.raises(AppRefusedError, match="has 3 partitions already; say as many"):
        made(partitions=2).start(fresh=True)


@pytest.mark.parametrize(
    "edit", [{"columns": "id BIGINT, more STRING"}, {"key": None}, {"partitioner": "crc32"}]
)
def test_other_columns_or_keys_than_those_of_the_import_are_refused(
    file: Path, made: Made, edit: dict[str, Any]
) -> None:
    write(file, 0, 25)
    made().start()
    with pytest.raises(AppRefusedError, match="raise resetNonce to import it again"):
        made(**edit).start()


def test_a_history_says_where_its_topic_continues(tmp_path: Path) -> None:
    columns = {"columns": "id BIGINT, at INT, place BIGINT", "key": "id"}
    resource = app_resource(
        [
            {"name": "all", "merge": {"from": ["in", "orders"]}},
            {"name": "send", "sendTo": {"from": "all", "stream": "out"}},
        ],
        [
            {"name": "in", "system": "tables", "topic": "sales", **columns},
            {
                "name": "orders",
                "system": "main",
                "columns": "id BIGINT",
                "key": "id",
                "after": "in",
                "metadata": {"partition": "at", "offset": "place"},
            },
            {"name": "out", "system": "main"},
        ],
        applicationId="orders",
        systems=[HOME, {"name": "tables", "files": {"path": str(tmp_path), "format": "json"}}],
    )
    parsed = parse_data(resource)
    assert not parsed.problems, parsed.problems
    rows = [{"id": n, "at": n % 3, "place": n} for n in range(35)] + [{"id": 99, "at": None, "place": 7}]
    (tmp_path / "sales").write_text("".join(json.dumps(row) + "\n" for row in rows) + "no row\n")
    app = ImportedApp(tmp_path / "home", parsed.apps[0])
    with closing(app):
        assert app.start().continues_at == {0: 34, 1: 35, 2: 33}
        assert ImportedTable.parse(app.imported.document()) == app.imported
