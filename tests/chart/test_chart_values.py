"""What values are taken: every key is known, each has its bounds, and each is described."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.harness.machine.helm import CHART, KUBE, Helm
from tests.harness.repository.chart_values import values

TEXT = (CHART / "values.yaml").read_text(encoding="utf-8")
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
FREE = {
    "serviceAccount.annotations",
    "apps.driverRequests",
    "apps.executorRequests",
    "apps.sparkConf",
    "hostState.nodeSelector",
    "hostState.resources.requests",
    "hostState.resources.limits",
    "metrics.serviceMonitor.labels",
    "alerts.labels",
    "alerts.alertLabels",
    "metrics.dashboards.labels",
    "metrics.dashboards.annotations",
    "resources.requests",
    "resources.limits",
    "podLabels",
    "podAnnotations",
    "nodeSelector",
}
"""Maps whose keys are the user's own."""


def refused(helm: Helm, *said: str) -> str:
    done = helm.run("template", "x", CHART, f"--kube-version={KUBE}", *said)
    assert done.returncode != 0, f"{said} is taken"
    return done.stderr


def mappings(data: dict[str, Any], path: str = "") -> Iterator[str]:
    yield path
    for key, value in data.items():
        if isinstance(value, dict):
            yield from mappings(value, f"{path}.{key}" if path else key)


def leaves(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """The paths that the schema knows, down to where it leaves names to the user."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if "properties" not in schema or path == "affinity":
        yield path
        return
    for name, inner in schema["properties"].items():
        yield from leaves(inner, f"{path}.{name}" if path else name)


@pytest.mark.parametrize("path", [one for one in mappings(yaml.safe_load(TEXT)) if one not in FREE])
def test_a_key_that_nobody_knows_is_refused_wherever_it_stands(helm: Helm, path: str) -> None:
    key = f"{path}.nobodyKnows" if path else "nobodyKnows"
    assert "nobodyKnows" in refused(helm, f"--set={key}=x")


@pytest.mark.parametrize(
    "said",
    [
        "replicas=-1",
        "replicas=two",
        "workers=0",
        "logLevel=loud",
        "image.pullPolicy=Sometimes",
        "image.tag=a b",
        "image.digest=1f",
        "runtimeImage.digest=sha256:1F",
        "image.repository=",
        "runtimeImage.pullSecrets={a}",
        "operatorClass=Blue",
        "namespaces={Shop}",
        "namespaces={a,a}",
        "apps.allowed.features={root}",
        "admission.driverPods=perhaps",
        "apps.hostPathRoots={data}",
        "apps.hostPathRoots={/}",
        "apps.hostPathRoots={/data/../etc}",
        "apps.driverRequests.memory=much",
        "hostState.cleanAfter=a week",
        "metrics.serviceMonitor.interval=30",
        "alerts.disabled={StreamAppTired}",
        "alerts.runbookUrl=alerts.md",
        "alerts.thresholds.lagRows=many",
        "alerts.thresholds.notReadyFor=10",
        "alerts.thresholds.queueAgeSeconds=-1",
        "probes.liveness.periodSeconds=0",
        "fullnameOverride=Streams",
        "test.requests.cpu=null",
        "resources.requests.memory=1 GB",
    ],
)
def test_a_value_out_of_bounds_is_refused_by_its_path(helm: Helm, said: str) -> None:
    told = refused(helm, f"--set={said}")
    assert said.partition("=")[0].split(".")[0].partition("{")[0] in told


def test_a_helper_for_state_on_nodes_needs_folders_to_look_after(helm: Helm) -> None:
    assert "name some in apps.hostPathRoots" in refused(helm, "--set=hostState.enabled=true")


def test_an_account_that_is_not_made_has_to_be_named(helm: Helm) -> None:
    assert "serviceAccount.name: missing" in refused(helm, "--set=serviceAccount.create=false")


def test_every_key_of_the_schema_has_a_default_in_the_file() -> None:
    data = yaml.safe_load(TEXT)
    for path in leaves(SCHEMA):
        if path in ("global", "probes.readiness.initialDelaySeconds"):
            continue
        found = data
        for part in path.split("."):
            assert part in found, f"{path} has no default"
            found = found[part]


def test_a_value_without_a_comment_is_not_described_by_its_neighbours() -> None:
    with pytest.raises(ValueError, match=r"a\.c: no comment"):
        values("# -- All.\na:\n  # -- One.\n  b: 1\n  c: 2\n")


def test_a_comment_on_a_whole_holds_for_its_parts() -> None:
    (found,) = values("# -- All\n# of it.\na:\n  b: 1\n  c: {d: 2}\n")
    assert (found.path, found.about, found.default) == ("a", "All of it.", {"b": 1, "c": {"d": 2}})
