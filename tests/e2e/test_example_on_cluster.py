"""An example comes to a cluster by one command, twice: the second time with other rows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from examples.example_deployment import NAMESPACE
from tests.e2e.conftest import NewSpace
from tests.harness.cluster.cluster_programs import REPOSITORY
from tests.harness.cluster.kind_cluster import NAME, Cluster

DEPLOYMENTS = (("enrichment", 7), ("enrichment", 8), ("fraud", 7))
"""A join with tables; the same with other rows; an app with code of its own."""


def deploy(kind: Cluster, name: str, seed: int) -> subprocess.CompletedProcess[str]:
    programs = Path(kind.programs.paths["kubectl"]).parent
    return subprocess.run(
        [sys.executable, "-m", "examples", "deploy", name, "--seed", str(seed), "--context", f"kind-{NAME}"],
        cwd=REPOSITORY,
        env=os.environ
        | {"KUBECONFIG": str(kind.kubeconfig), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture(scope="module", autouse=True)
def namespace(new_space: NewSpace) -> None:
    """The namespace of examples, which the command makes itself, is removed after the tests."""
    new_space(NAMESPACE)


@pytest.mark.parametrize(("name", "seed"), DEPLOYMENTS)
def test_an_example_writes_the_expected_rows_on_a_cluster(kind: Cluster, name: str, seed: int) -> None:
    done = deploy(kind, name, seed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": equal to the " in done.stdout
