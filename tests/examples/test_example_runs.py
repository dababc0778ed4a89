"""Each example by `streamapp run`, as its page says, on made-up rows."""

import shutil
from pathlib import Path

import pytest

from examples.example_apps import ExampleApp, app_of, example, names
from examples.example_run import run_example
from tests.harness.machine.postgres_server import USER, PostgresServer

SHORTEST = "fraud"
"""The one that `make test` runs: one app, one round, code of its own."""
OF_TABLES = "cdc-to-iceberg"
"""The one whose table is in a folder, which no run in the kit writes."""
IN_POSTGRES = "hourly-revenue"
DATABASE = "examples"

RUNS = [
    pytest.param(name, marks=() if name in {SHORTEST, OF_TABLES} else pytest.mark.nightly)
    for name in names()
    if name != IN_POSTGRES
]


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", RUNS)
def test_an_example_writes_the_expected_rows(name: str, tmp_path: Path) -> None:
    lines: list[str] = []
    equal = run_example(example(name), tmp_path, rows=600, seed=3, say=lines.append)
    assert equal, "\n".join(lines)


def at(address: str, folder: Path) -> ExampleApp:
    """The example of a database, as it is where the database is at another address."""
    one = example(IN_POSTGRES)
    copied = Path(shutil.copytree(one.folder, folder / IN_POSTGRES))
    text = (copied / "app.yaml").read_text("utf-8")
    assert '"127.0.0.1:5432"' in text
    (copied / "app.yaml").write_text(text.replace("127.0.0.1:5432", address), "utf-8")
    return ExampleApp(copied, one.generator)


def test_the_examples_with_a_database_are_those_that_are_run_with_one() -> None:
    systems = {name: app_of(source).spec.systems for name in names() for source in example(name).sources}
    assert [name for name, each in systems.items() if any(one.postgres for one in each)] == [IN_POSTGRES]


@pytest.mark.usefixtures("process")
def test_an_example_writes_the_expected_rows_into_a_database_also_when_it_is_run_again(
    tmp_path: Path, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGUSER", USER)
    postgres_server.execute(f"CREATE DATABASE {DATABASE}")
    one = at(postgres_server.address, tmp_path)
    for seed in (3, 4):
        lines: list[str] = []
        folder = tmp_path / f"run-{seed}"
        folder.mkdir()
        equal = run_example(one, folder, rows=600, seed=seed, say=lines.append)
        assert equal, "\n".join(lines)


@pytest.mark.usefixtures("loopback")
def test_an_example_without_its_database_says_in_one_line_what_it_needs(tmp_path: Path) -> None:
    one = at("127.0.0.1:1", tmp_path)
    with pytest.raises(SystemExit) as ended:
        run_example(one, tmp_path, rows=100, seed=3, say=print)
    said = str(ended.value)
    assert said.startswith("hourly-revenue needs PostgreSQL at 127.0.0.1:1 with the database examples: ")
    assert "\n" not in said
