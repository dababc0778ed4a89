"""One API server for all tests of a process, and a namespace for each test."""

from collections.abc import Generator, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.harness.api_server.api_server import ApiServer, assets, running
from tests.harness.machine.left_out import leave_out
from tests.harness.machine.yaml_language_server import NO_NPM

_numbers = count(1)
LEFT_OUT = "tests against a real API server were left out; `make kube-assets` gets what they need"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """All that is left out is left out at one place, so that one line says it."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if reason.endswith((LEFT_OUT, NO_NPM)):
            report.longrepr = (__file__, 1, reason)
    return report


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    programs = assets()
    if programs is None:
        leave_out(LEFT_OUT)
    with running(programs, Path(tmp_path_factory.mktemp("api-server"))) as server:
        yield server


@pytest.fixture
def namespace(api_server: ApiServer) -> str:
    """A new namespace. Nothing ever deletes it: a controller that would is not there."""
    name = f"test-{next(_numbers)}"
    api_server.new_namespace(name)
    return name
