"""What queues and gang schedulers read is on the pods of driver and executors, as the guide's page says."""

import re
from typing import Any

import pytest
import yaml

from streamapp_operator.reconciler.objects.executor_limits import LIMITS_ANNOTATION
from streamapp_operator.reconciler.pods.pod_shape import read_pod_shape
from tests.harness.api_server.api_server import REPOSITORY
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

PAGE = (REPOSITORY / "docs" / "guide" / "queues.md").read_text(encoding="utf-8")
EXAMPLES = [
    document["spec"]
    for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    if "driver" in (document := yaml.safe_load(block))["spec"]
]


@pytest.mark.parametrize("spec", EXAMPLES, ids=["yunikorn", "volcano", "kueue"])
def test_labels_annotations_and_the_scheduler_of_the_templates_are_on_the_pods(
    sim: OperatorSim, spec: dict[str, Any]
) -> None:
    sim.apply(join(**spec))
    sim.settle()
    driver = sim.driver()
    executor = read_pod_shape(sim.config_map("app-accepted-1")["data"]).executor
    for pod, role in ((driver, "driver"), (executor, "executor")):
        template = spec[role]["template"]
        for part in ("labels", "annotations"):
            wanted = template["metadata"].get(part, {})
            assert {name: pod["metadata"][part][name] for name in wanted} == wanted
        if "spec" in template:
            assert pod["spec"]["schedulerName"] == template["spec"]["schedulerName"]


@pytest.mark.parametrize("spec", EXAMPLES, ids=["yunikorn", "volcano", "kueue"])
def test_the_labels_of_executors_are_among_what_a_driver_may_give_them(
    sim: OperatorSim, spec: dict[str, Any]
) -> None:
    sim.apply(join(**spec))
    sim.settle()
    bindings = sim.objects("rolebindings", "apis/rbac.authorization.k8s.io/v1")
    (binding,) = [one for one in bindings if one["metadata"]["name"] == "app-driver"]
    limits = binding["metadata"]["annotations"][LIMITS_ANNOTATION].splitlines()
    labels = spec["executor"]["template"]["metadata"].get("labels", {})
    assert {f"label/{name}={value}" for name, value in labels.items()} <= set(limits)
