"""One cluster, one broker and one installation for all tests; a namespace for each."""

import os
from collections.abc import Callable, Generator, Iterator

import pytest

from tests.harness.cluster.app_namespace import Space
from tests.harness.cluster.chart_installation import Installation
from tests.harness.cluster.cluster_broker import start_broker
from tests.harness.cluster.cluster_images import build_and_load
from tests.harness.cluster.cluster_programs import REPOSITORY, Programs
from tests.harness.cluster.failure_evidence import collect
from tests.harness.cluster.kind_cluster import Cluster, cluster, remove

KEEP = os.environ.get("E2E_KEEP") == "1"
BUILD = os.environ.get("E2E_BUILD", "1") == "1"
FOLDER = REPOSITORY / ".e2e"
SPACES = pytest.StashKey[list[Space]]()

NewSpace = Callable[..., Space]


@pytest.fixture(scope="session")
def kind() -> Iterator[Cluster]:
    """A cluster with the images that are tried on its nodes."""
    programs = Programs.found()
    try:
        made = cluster(programs, FOLDER)
        if made.fresh or BUILD:
            build_and_load(made)
        yield made
    finally:
        if not KEEP:
            remove(programs, FOLDER)


@pytest.fixture(scope="session")
def installation(kind: Cluster) -> Installation:
    """StreamApp, installed by its chart."""
    release = Installation(kind)
    if kind.fresh or BUILD:
        kind.await_api_server()
        release.install()
        release.restart()
    return release


@pytest.fixture(scope="session")
def broker(kind: Cluster) -> None:
    """The broker that `Traffic` goes to."""
    start_broker(kind)


@pytest.fixture(scope="module")
def new_space(
    request: pytest.FixtureRequest, kind: Cluster, installation: Installation, broker: None
) -> Iterator[NewSpace]:
    """Makes namespaces of a test module, where apps can be applied; they end with it."""
    made = request.node.stash.setdefault(SPACES, [])

    def new(name: str, *, restricted: bool = True) -> Space:
        space = Space(kind, name)
        space.remove()  # what an earlier run has kept
        space.make(restricted=restricted)
        made.append(space)
        return space

    yield new
    for space in made:
        if not KEEP:
            space.leave()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Has all that a module's namespaces say written down when one of its tests has failed."""
    report = yield
    module = item.getparent(pytest.Module)
    if report.failed and module is not None:
        for space in module.stash.get(SPACES, []):
            collect(space.cluster, space.name, FOLDER / "failed" / item.name / space.name)
    return report
