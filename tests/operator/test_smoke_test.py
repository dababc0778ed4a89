"""The program of the chart's test: the tests here play the operator, by writing the status of its app."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import Child, until
from tests.harness.operator.operator_processes import app, path_of, put


def begun(server: ApiServer, wanted: dict[str, Any], folder: Path, limit: str = "2m") -> Child:
    """The smoke test of an app, once the app is there."""
    file = folder / "app.yaml"
    file.write_text(json.dumps(wanted), encoding="utf-8")
    command = [sys.executable, "-m", "streamapp_operator.smoke_test", file, "--limit", limit]
    smoke_test = Child([*command, "--kubeconfig", server.kubeconfig()], folder / "said.log")
    until(lambda: server.answers(path_of(wanted)), 60, smoke_test)
    return smoke_test


def say(server: ApiServer, wanted: dict[str, Any], phase: str) -> None:
    path = f"{path_of(wanted)}/status"
    server.ask("PATCH", path, {"status": {"phase": phase}}, "application/merge-patch+json")


@pytest.mark.parametrize(("phase", "code"), [("Completed", 0), ("Failed", 1), ("Rejected", 1)])
def test_it_ends_with_its_app_and_takes_it_away(
    api_server: ApiServer, namespace: str, tmp_path: Path, phase: str, code: int
) -> None:
    wanted = app(namespace)
    with begun(api_server, wanted, tmp_path) as smoke_test:
        say(api_server, wanted, "Launching")
        until(lambda: "Launching" in smoke_test.said(), 30, smoke_test)
        say(api_server, wanted, phase)
        assert smoke_test.wait(60) == code
        assert f"{namespace}/app: {phase}" in smoke_test.said()
    assert not api_server.answers(path_of(wanted))


def test_an_app_that_does_not_get_to_its_end_fails_the_test_when_time_is_over(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    wanted = app(namespace)
    with begun(api_server, wanted, tmp_path, limit="2s") as smoke_test:
        assert smoke_test.wait(60) == 1
        assert "no operator has looked at it yet" in smoke_test.said()
    assert not api_server.answers(path_of(wanted))


def test_an_app_that_is_somebody_elses_is_left_alone(
    api_server: ApiServer, namespace: str, tmp_path: Path
) -> None:
    wanted = app(namespace)
    put(api_server, wanted)
    with begun(api_server, wanted, tmp_path) as smoke_test:
        assert smoke_test.wait(60) == 1
        assert "already exists" in smoke_test.said()
    assert api_server.answers(path_of(wanted))
