"""`streamapp init`: what it makes is checked, tested and run as its user would."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from streamapp.cli.documents.new_app import TABLE_TEMPLATE, TABLES, TEMPLATES, new_app_commands, new_app_files
from streamapp.cli.main import root
from streamapp.spec.parser import parse
from streamapp.spec.serialization import as_yaml
from tests.harness.machine.yaml_language_server import yaml_language_server

OUTPUTS: Mapping[str, list[dict[str, Any]]] = {
    "join": [
        {"user": "ann", "page": "/", "country": "NO"},
        {"user": "bob", "page": "/shoes", "country": "FR"},
        {"user": "ann", "page": "/cart", "country": "NO"},
    ],
    "windows": [{"page": "/", "views": 2}, {"page": "/shoes", "views": 1}, {"page": "/", "views": 1}],
    "own-python": [{"card": "7001", "total": 1150}],
    "table": [{"order_id": "o1", "state": "sent"}, {"order_id": "o2", "state": "ordered"}],
}
FIRST = next(iter(TEMPLATES))
FORMS = [(template, form) for template in TEMPLATES for form in ([], ["--python"])]
RUN = [
    pytest.param(template, marks=() if template == FIRST else pytest.mark.nightly) for template in TEMPLATES
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("spending", None)  # the own code of a template


def invoked(*words: str) -> Result:
    return CliRunner().invoke(root, words, prog_name="streamapp")


def made(*arguments: str) -> Result:
    return invoked("init", *arguments)


def process(command: str, folder: Path) -> str:
    """What a command prints, called with the programs of this environment first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_template_has_its_output_here() -> None:
    assert OUTPUTS.keys() == TEMPLATES.keys()


@pytest.mark.usefixtures("process")
def test_what_is_made_is_formatted_has_nothing_wrong_and_passes_its_test(here: Path) -> None:
    """All at once: each linter and each pytest takes seconds to start."""
    for template, form in FORMS:
        name = f"{template}-app" if form else template
        result = made(name, "--template", template, *form)
        assert result.exit_code == 0, result.output
        app = "app.py" if form else "app.yaml"
        with chdir(here / name):
            assert invoked("check", app).output.endswith(": valid\n")
            assert "✓ accepted" in invoked("plan", app, "--catalog", "topics.yaml").output
        process(
            "ruff check --isolated --select E,F,I,B,UP . && ruff format --isolated --check .", here / name
        )
    tests = process("pytest -q -p no:cacheprovider", here)
    assert f"{2 * len(FORMS)} passed" in tests


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_program_of_a_template_stands_for_its_resource(here: Path, template: str) -> None:
    made("new-app", "--template", template)
    resource = (here / "new-app" / "app.yaml").read_text("utf-8")
    (here / "new-app").rename(here / "in-yaml")
    made("new-app", "--template", template, "--python")
    (app,) = parse(resource).apps
    with chdir(here / "new-app"):
        assert invoked("render", "app.py").output == as_yaml(app)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("template", RUN)
def test_what_is_made_runs_with_its_sample_rows(here: Path, template: str) -> None:
    printed = made("new-app", "--template", template).output
    commands = new_app_commands(template, "app.yaml")
    outputs = [process(command, here / "new-app") for command in commands]
    rows = [json.loads(line) for line in outputs[-1].splitlines()]
    rows = [{name: row[name] for name in OUTPUTS[template][0]} for row in rows]
    assert (sorted(rows, key=str) if template == TABLE_TEMPLATE else rows) == OUTPUTS[template]
    readme = (here / "new-app" / "README.md").read_text("utf-8")
    for command in commands:
        assert command in printed
        assert command in readme


@pytest.mark.parametrize("table", TABLES)
def test_an_app_of_tables_is_the_same_in_both_forms_and_has_what_it_is_asked_for(
    here: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    result = made("orders", "--to", table)
    assert result.exit_code == 0, result.output
    assert TABLES[table].look in result.output
    (app,) = parse((here / "orders" / "app.yaml").read_text("utf-8")).apps
    assert [system.kind for system in app.spec.systems] == ["embedded", table]
    program = new_app_files("orders", TABLE_TEMPLATE, table, python=True)["app.py"]
    (here / "app.py").write_text(program, encoding="utf-8")
    assert CliRunner().invoke(root, ["render", "app.py"]).output == as_yaml(app)


def test_a_table_of_a_template_without_one_is_refused(here: Path) -> None:
    result = made("orders", "--to", "delta", "--template", "windows")
    assert result.exit_code == 2
    assert "--to is for --template table; windows writes streams" in result.stderr
    assert not list(here.iterdir())


@pytest.mark.usefixtures("process")
def test_an_app_of_iceberg_tables_runs_and_its_table_is_shown(here: Path) -> None:
    made("orders", "--to", "iceberg")
    commands = new_app_commands(TABLE_TEMPLATE, "app.yaml", "iceberg")
    printed = [process(command, here / "orders") for command in commands][-1]
    states = {row["order_id"]: row["state"] for row in map(json.loads, printed.splitlines())}
    assert states == {"o1": "sent", "o2": "ordered"}


@pytest.mark.usefixtures("process")
def test_an_editor_finds_the_schema_of_a_new_app(here: Path) -> None:
    made("new-app")
    text = (here / "new-app" / "app.yaml").read_text("utf-8")
    settings = json.loads((here / "new-app" / ".vscode" / "settings.json").read_text("utf-8"))
    (schema,) = settings["yaml.schemas"]
    assert (here / "new-app" / schema).is_file()
    assert f"$schema={schema.removeprefix('./')}\n" in text
    with yaml_language_server(here / "new-app") as editor:
        assert editor.problems(text) == []
        assert editor.problems(text.replace("sendTo", "sentTo")) != []


def test_the_name_of_an_app_is_in_its_files(here: Path) -> None:
    made("page-views")
    assert yaml.safe_load((here / "page-views/app.yaml").read_text("utf-8"))["metadata"] == {
        "name": "page-views"
    }
    assert (here / "page-views" / "test_page_views.py").is_file()
    assert not list(here.rglob("*.tmpl"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Page Views", '"Page Views" is not a valid name of an app; write a DNS label: small letters, '),
        ("page_views", "at most 40 characters, such as page-views"),
        ("a" * 41, f"at most 40 characters, such as {'a' * 40}"),
        ("../views", "such as views"),
        ("ümlaut", "such as mlaut"),
        ("___", "at most 40 characters\n"),
    ],
)
def test_a_bad_name_is_refused_with_a_good_one(here: Path, name: str, message: str) -> None:
    result = made(name)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(here.iterdir()) == []


def test_nothing_is_overwritten(here: Path) -> None:
    (here / "page-views").mkdir()
    assert made("page-views").exit_code == 0  # it was empty
    app = here / "page-views" / "app.yaml"
    app.write_text("mine", encoding="utf-8")
    result = made("page-views", "--python")
    assert result.exit_code == 2
    assert "the folder page-views is there and not empty: choose another name" in result.stderr
    assert app.read_text("utf-8") == "mine"
    assert not (here / "page-views" / "app.py").exists()


def test_a_file_in_the_place_of_the_folder_is_refused(here: Path) -> None:
    (here / "page-views").write_text("mine", encoding="utf-8")
    result = made("page-views")
    assert result.exit_code == 2
    assert "cannot write page-views" in result.stderr
    assert (here / "page-views").read_text("utf-8") == "mine"


@pytest.mark.usefixtures("here")
def test_an_unknown_template_is_refused_with_those_there_are() -> None:
    result = made("page-views", "--template", "joins")
    assert result.exit_code == 2
    assert all(template in result.stderr for template in TEMPLATES)
