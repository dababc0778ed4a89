"""Helm, and an API server that knows no StreamApps yet; what lacks either is left out in one line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.api_server.api_server import ApiServer, assets, running
from tests.harness.api_server.asset_programs import asset_program
from tests.harness.machine.helm import Helm
from tests.harness.machine.left_out import leave_out

LEFT_OUT = "tests of the chart were left out; `make kube-assets` gets what they need"


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    program = asset_program("helm")
    if program is None:
        leave_out(LEFT_OUT)
    return Helm(program, Path(tmp_path_factory.mktemp("helm")))


@pytest.fixture(scope="module")
def empty_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """An API server that knows no StreamApps yet, and may be made to forget them again."""
    programs = assets()
    if programs is None:
        pytest.skip(LEFT_OUT)
    with running(programs, Path(tmp_path_factory.mktemp("empty"))) as server:
        server.ask(
            "DELETE",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/streamapps.streamapp.dev",
        )
        yield server
