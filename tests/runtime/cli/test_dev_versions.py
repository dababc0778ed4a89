"""One version of an app under `streamapp dev`, in the test's own process: its options, data and rows."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from streamapp.cli.facts.count_options import CountOptions
from streamapp.cli.main import root
from streamapp_runtime.cli.dev_loop.dev_options import DataOption, DevOptions, SampleRows, VersionOutcome
from streamapp_runtime.cli.dev_loop.own_modules import OwnModules
from streamapp_runtime.cli.dev_loop.version_process import VersionChannel
from streamapp_runtime.cli.dev_loop.version_run import VersionRun
from tests.harness.core.all_cases import all_cases
from tests.harness.core.app_resources import app_resource, registry_system
from tests.harness.kafka.schema_server import schema_server


@pytest.fixture
def join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(root, ["init", "shop", "--template", "join"]).exit_code == 0
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


@dataclass(frozen=True, slots=True)
class Version:
    """What came of a version."""

    outcome: VersionOutcome
    rows: list[str]
    said: str


Versions = Callable[..., Version]


@pytest.fixture
def version(
    join: Path, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory
) -> Versions:
    """Runs the app once with some options."""

    def run(**given: Any) -> Version:
        options = DevOptions(
            **{
                "app": "app.yaml",
                "name": None,
                "data": (),
                "shown": (),
                "tables": (),
                "counts": CountOptions(),
                "made_up": SampleRows(20, 1.0),
                "limit": 20,
                "watched": (),
                "once": True,
                **given,
            }
        )
        pipe = os.pipe()
        modules = OwnModules(join)
        try:
            channel = VersionChannel(*pipe)
            folder = tmp_path_factory.mktemp("version")
            outcome = VersionRun(options, folder, None, channel, modules, has_spark=False).run()
        finally:
            sys.meta_path.remove(modules)
            for end in pipe:
                os.close(end)
        printed = capsys.readouterr()
        return Version(outcome, [line.split(maxsplit=1)[1] for line in printed.out.splitlines()], printed.err)

    return run


def test_an_option_that_does_not_fit_the_app_is_refused_with_words(version: Versions, join: Path) -> None:
    views_of_another_name = DataOption(join / "app.yaml", "vews")
    misuses: list[tuple[dict[str, Any], str]] = [
        ({"data": (views_of_another_name,)}, '--data: no stream "vews"; did you mean "views"?'),
        ({"shown": ("enrich",)}, '--show: no stream or operator "enrich"; did you mean "enriched"?'),
        ({"tables": ("user",)}, '--table: no table "user"; did you mean "users"?'),
        ({"counts": CountOptions(settings=("views",))}, 'found "views"; write it like views=8'),
        ({"name": "other"}, "app.yaml holds the apps shop; choose one with --app"),
    ]
    with all_cases() as case:
        for options, words in misuses:
            with case(words):
                done = version(**options)
                assert (done.outcome, done.rows) == (VersionOutcome.MISUSE, [])
                assert words in done.said


def test_lines_of_json_are_the_rows_of_a_stream_of_another_format(version: Versions, join: Path) -> None:
    app, views = join / "app.yaml", join / "sample" / "views.jsonl"
    text, lines = app.read_text("utf-8"), views.read_text("utf-8")
    of_json = "{name: views, system: main,"
    assert of_json in text
    app.write_text(text.replace(of_json, f"{of_json} format: avro,"), "utf-8")
    assert version().rows[1] == '{"user": "bob", "page": "/shoes", "country": "FR"}'
    for wrong_line, complaint in (
        ("[1]", "no JSON object, so it has no columns"),
        ('{"session": "a", "user": 3, "page": "/"}', 'user of "views" is STRING, and 3 is none'),
    ):
        views.write_text(f"{lines}{wrong_line}\n", "utf-8")
        done = version()
        assert f"sample/views.jsonl: record 5: {complaint}" in done.said
        assert done.outcome is VersionOutcome.PROBLEM


def test_a_stream_takes_a_csv_file_and_another_gets_made_up_rows(version: Versions, join: Path) -> None:
    people = join / "people.csv"
    people.write_text("user,country\nuser-1,NO\nuser-2,FR\n", "utf-8")
    done = version(data=(DataOption(people, "users"),), made_up=SampleRows(50, 1.0))
    assert '"views" has no data: 50 rows are made up' in done.said
    assert "records: views 50, users 2" in done.said
    assert {row[-5:] for row in done.rows} == {'"NO"}', '"FR"}'}


@pytest.mark.usefixtures("join")
def test_wrong_use_is_refused_with_words() -> None:
    misuses: list[tuple[list[str], str]] = [
        (["absent.yaml"], "cannot read absent.yaml: there is no such file"),
        (["."], "cannot read .: there is no such file"),
        (["-"], "standard input cannot be watched: name the file of the app"),
        (["app.yaml", "--data", "views"], 'found "views"; write STREAM=FILE, or a folder of files that are'),
        (["app.yaml", "--data", "views=none"], "there is no file none"),
        (["app.yaml", "--every", "soon"], "--every"),
        (["app.yaml", "--watch", "none"], "File 'none' does not exist"),
    ]
    with all_cases() as case:
        for arguments, words in misuses:
            with case(words):
                done = CliRunner().invoke(root, ["dev", *arguments])
                assert words in " ".join(done.stderr.split())
                assert done.exit_code == 2


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("form", ["avro", "json"])
def test_lines_and_made_up_rows_of_a_stream_under_a_registry_are_written_by_its_schemas(
    join: Path, version: Versions, form: str
) -> None:
    with schema_server() as registry:
        views = {"format": form, "registry": True, "writerSchema": {"autoRegister": True}}
        streams = [{"name": "views", "columns": "user STRING, n INT", **views}, {"name": "out"}]
        sent = {"name": "sent", "sendTo": {"from": "views", "stream": "out"}}
        document = app_resource([sent], streams, system=registry_system(registry.url))
        (join / "app.yaml").write_text(yaml.safe_dump(document))
        lines = join / "lines.jsonl"
        lines.write_text('{"user": "ann", "n": 1}\n')
        of_lines = version(data=(DataOption(lines, "views"),))
        assert (of_lines.outcome, of_lines.rows) == (VersionOutcome.DONE, ['{"user": "ann", "n": 1}'])
        (join / "sample" / "views.jsonl").unlink()
        made_up = version(made_up=SampleRows(2, 1.0))
        assert (made_up.outcome, len(made_up.rows)) == (VersionOutcome.DONE, 2)
        lines.write_text('{"user": "ann", "n": "x"}\n')
        refused = version(data=(DataOption(lines, "views"),))
        assert "lines.jsonl: record 1: n of" in refused.said
