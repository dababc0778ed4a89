"""Verbs say which option gives the entries of a Secret, on a machine where nothing is known of it."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from streamapp.cli.main import root
from streamapp.spec.parser import parse
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.start.app_storage import storage_of
from tests.harness.runs.page_views_run import app as page_views

REFUSAL = (
    'spec.systems[0].kafka.configSecret: outside of a cluster nothing is known of the Secret "kafka-client"; '
    "name its entries: --secrets ./kafka-client (a folder with a file for each, or a file of key=value lines)"
)
GUARDED = page_views("127.0.0.1:9", "guarded", configSecret={"name": "kafka-client"})


@pytest.mark.parametrize(
    "command",
    [
        ["plan", "{app}", "--live"],
        ["tasks", "{app}", "--live"],
        ["place", "{app}", "--live", "--processors", "2"],
        ["log", "list", "{app}"],
        ["log", "read", "{app}", "views"],
        ["log", "write", "{app}", "views", "{rows}"],
    ],
)
def test_a_verb_without_the_entries_of_the_secret_says_how_to_name_them(
    tmp_path: Path, command: list[str]
) -> None:
    app, rows = tmp_path / "app.yaml", tmp_path / "rows.json"
    app.write_text(yaml.safe_dump(GUARDED))
    rows.write_text("")
    result = CliRunner().invoke(root, [part.format(app=app, rows=rows) for part in command])
    assert result.exit_code
    assert REFUSAL in result.output


def test_a_run_is_refused_in_the_same_words(tmp_path: Path) -> None:
    (app,) = parse(yaml.safe_dump(GUARDED)).apps
    with pytest.raises(AppRefusedError) as refused:
        storage_of(app, tmp_path)
    assert [f"{problem.path}: {problem.message}" for problem in refused.value.problems] == [REFUSAL]
