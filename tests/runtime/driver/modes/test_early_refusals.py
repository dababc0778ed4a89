"""The refusals of a run by hand before it starts anything, for apps of several logs."""

from pathlib import Path

import pytest

from streamapp.spec.problem import Problem
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.early_refusals import early_problems
from streamapp_runtime.driver.start.user_functions import load_user_functions
from streamapp_runtime.systems.app_systems import Systems
from tests.harness.runs.app_runs import app


def problems_of(folder: Path, home: str, *created: str) -> list[Problem]:
    """The problems of an app that copies `views` of one log to another, where these streams are there."""
    copies = app(
        {"name": "out", "sendTo": {"from": "views", "stream": "copied"}},
        streams=[
            {"name": "views", "system": "main", "columns": "user STRING"},
            {"name": "copied", "system": "other"},
        ],
        systems=[
            {"name": name, "embedded": {"path": name}, "home": name == home} for name in ("main", "other")
        ],
    )
    connections = embedded_storage(folder, copies).systems
    systems = Systems(connections)
    for stream in created:
        systems.create(stream, 1)
    systems.close()
    return early_problems(copies, connections, load_user_functions(copies))


@pytest.mark.parametrize("home", ["main", "other"])
def test_a_log_that_has_yet_to_be_made_hides_no_stream_of_another(tmp_path: Path, home: str) -> None:
    assert problems_of(tmp_path, home, "views") == []
    assert len(list(tmp_path.rglob("data.mdb"))) == 1


def test_a_stream_that_is_not_there_is_named_and_no_log_is_made(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, "main")
    assert 'stream "views" does not exist in the embedded log' in problem.message
    assert list(tmp_path.rglob("data.mdb")) == []
