"""Resources with wrong types anywhere: refused at their path, and what ran before goes on."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from streamapp.spec.reasons import Reason
from streamapp.spec.text.document import walk
from streamapp_operator.reconciler.decide import decide
from streamapp_operator.reconciler.facts.facts import AppFacts, ClusterFacts, Facts
from streamapp_operator.reconciler.facts.generation_validation import newest_generation
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.planning.acceptance import accept_generation
from tests.harness.operator.golden_objects import CASES, INSTALLATION, manifest
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join, two_joins

OWN = {"name": "driver"}
SIDECAR = {"name": "side", "image": "side:1"}
SPEC = "spec.driver.template.spec"
MALFORMED: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    (
        "capabilities-of-a-word",
        {"containers": [{**OWN, "securityContext": {"capabilities": "ALL"}}]},
        f"{SPEC}.containers[0].securityContext.capabilities",
        'found the text "ALL" where a mapping is expected',
    ),
    (
        "projected-of-a-word",
        {"volumes": [{"name": "v", "projected": "x"}]},
        f"{SPEC}.volumes[0].projected",
        'found the text "x" where a mapping is expected',
    ),
    (
        "variables-of-numbers",
        {"containers": [{**OWN, "env": [1]}]},
        f"{SPEC}.containers[0].env[0]",
        "found the number 1 where a mapping is expected",
    ),
    (
        "a-variable-without-a-name",
        {"containers": [{**OWN, "env": [{"value": "x"}]}]},
        f"{SPEC}.containers[0].env[0].name",
        "missing; a pod needs it",
    ),
    (
        "a-mount-without-a-path",
        {"containers": [{**OWN, "volumeMounts": [{"name": "x"}]}]},
        f"{SPEC}.containers[0].volumeMounts[0].mountPath",
        "missing; a pod needs it",
    ),
    (
        "a-pull-secret-without-a-name",
        {"imagePullSecrets": [{}]},
        f"{SPEC}.imagePullSecrets[0].name",
        "missing; name the Secret",
    ),
    (
        "containers-of-a-mapping",
        {"containers": {"a": 1}},
        f"{SPEC}.containers",
        "found a mapping where a list is expected",
    ),
    (
        "volumes-of-a-word",
        {"volumes": "x"},
        f"{SPEC}.volumes",
        'found the text "x" where a list is expected',
    ),
    (
        "a-grace-period-of-a-word",
        {"terminationGracePeriodSeconds": "300"},
        f"{SPEC}.terminationGracePeriodSeconds",
        'found the text "300" where a whole number is expected',
    ),
    (
        "a-container-twice",
        {"containers": [SIDECAR, OWN, SIDECAR]},
        f"{SPEC}.containers[2].name",
        f'"side" is already at {SPEC}.containers[0]; leave one of them out',
    ),
    (
        "a-container-that-is-an-init-container-too",
        {"containers": [SIDECAR], "initContainers": [SIDECAR]},
        f"{SPEC}.initContainers[0].name",
        f'"side" is already at {SPEC}.containers[0]; leave one of them out',
    ),
    (
        "a-volume-twice",
        {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]},
        f"{SPEC}.volumes[1].name",
        f'"v" is already at {SPEC}.volumes[0]; leave one of them out',
    ),
    (
        "two-mounts-at-one-path",
        {"containers": [{**OWN, "volumeMounts": [{"name": "v", "mountPath": "/v"}] * 2}]},
        f"{SPEC}.containers[0].volumeMounts[1].mountPath",
        f'"/v" is already at {SPEC}.containers[0].volumeMounts[0]; leave one of them out',
    ),
    (
        "the-operators-init-container",
        {"initContainers": [{"name": "streamapp-state-owner", "image": "x", "args": ["/host"]}]},
        f"{SPEC}.initContainers[0].name",
        'names that begin with "streamapp-" are the operator\'s',
    ),
    (
        "the-own-container-as-an-init-container",
        {"initContainers": [{"name": "driver", "image": "x"}]},
        f"{SPEC}.initContainers[0].name",
        "this is the name of the operator's own container",
    ),
    (
        "a-field-that-the-api-would-drop",
        {"containers": [{**OWN, "env": [{"name": "A", "value_from": {}}]}]},
        f"{SPEC}.containers[0].env[0].value_from",
        'a pod template has no such field; did you mean "valueFrom"?',
    ),
    (
        "a-port-of-a-list",
        {"containers": [{**SIDECAR, "livenessProbe": {"httpGet": {"port": []}}}]},
        f"{SPEC}.containers[0].livenessProbe.httpGet.port",
        "found a list of 0 where a number or a name is expected",
    ),
)


@pytest.mark.parametrize(
    ("pod", "path", "message"),
    [(pod, path, message) for _, pod, path, message in MALFORMED],
    ids=[name for name, *_ in MALFORMED],
)
def test_a_malformed_template_is_refused_at_its_path(pod: dict[str, Any], path: str, message: str) -> None:
    acceptance = accept_generation(facts_about(manifest(driver={"template": {"spec": pod}})), INSTALLATION)
    assert {problem.path: problem.message for problem in acceptance.problems} == {path: message}
    (problem,) = acceptance.problems
    assert problem.reason in {Reason.INVALID_SPEC, Reason.NOT_ALLOWED}


def test_numbers_are_taken_for_quantities_as_the_api_takes_them() -> None:
    pod = {
        "containers": [{**SIDECAR, "resources": {"limits": {"cpu": 1, "memory": 1e9}}}],
        "volumes": [{"name": "v", "emptyDir": {"sizeLimit": 1_000_000}}, {"name": "w", "emptyDir": None}],
        "tolerations": None,
    }
    app = manifest(driver={"template": {"spec": pod}})
    assert accept_generation(facts_about(app), INSTALLATION).problems == ()


def test_an_edit_with_a_malformed_template_leaves_the_app_running_and_healing(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(driver={"template": {"spec": {"containers": [{**OWN, "env": [{"value": "x"}]}]}}})
    sim.settle()
    assert sim.says("Accepted") == ("False", "InvalidSpec")
    assert f"{SPEC}.containers[0].env[0].name" in sim.condition("Accepted")["message"]
    assert sim.status()["observedGeneration"] == 2
    assert sim.says("Ready") == ("True", "Running")
    sim.fail_driver(10)
    assert sim.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "1"


def test_the_grace_period_of_the_template_is_the_drivers(sim: OperatorSim) -> None:
    sim.apply(join(driver={"template": {"spec": {"terminationGracePeriodSeconds": 300}}}))
    sim.settle()
    assert sim.driver()["spec"]["terminationGracePeriodSeconds"] == 300


RICH = {
    "metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
    "spec": {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}}},
        "nodeSelector": {"disk": "fast"}, "priorityClassName": "high", "terminationGracePeriodSeconds": 30,
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}],
        "imagePullSecrets": [{"name": "pull"}], "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
        "securityContext": {"fsGroup": 185, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "driver", "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}],
                "envFrom": [{"configMapRef": {"name": "c"}}],
                "securityContext": {"capabilities": {"drop": ["ALL"]}},
                "volumeMounts": [{"name": "v", "mountPath": "/v", "readOnly": True}],
            },
            {
                "name": "side", "image": "side:1", "ports": [{"containerPort": 80, "name": "http"}],
                "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}},
                "livenessProbe": {"httpGet": {"port": "http", "path": "/"}},
            },
        ],
        "initContainers": [{"name": "first", "image": "f", "command": ["a"], "args": ["b"]}],
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
        ],
        "volumes": [
            {"name": "v", "projected": {"sources": [{"secret": {"name": "s", "items": [
                {"key": "k", "path": "p"}]}}]}},
            {"name": "w", "secret": {"secretName": "s"}}, {"name": "e", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
    },
}  # fmt: skip
VALID = [
    *(manifest(**spec) for spec in CASES.values()),
    manifest(driver={"template": RICH}),
    manifest(executor={"template": {**RICH, "spec": {**RICH["spec"], "containers": []}}}),
    manifest(**two_joins()["spec"]),
]
VALUES = st.sampled_from(
    [None, True, 0, -1, 2**31, 2**63, 1.5, "", "x", "1Gi", "5m", "a\x00b", [], [None], [1], ["x"], [[]], {},
     {"": None}, {"a": 1}, {"name": "x"}, {"name": None}, [{}], [{"name": 1}], [{"name": "x"}, {"name": "x"}]]
)  # fmt: skip


@st.composite
def malformed(draw: st.DrawFn) -> dict[str, Any]:
    """A resource with some of its values swapped for others, or left out."""
    app = deepcopy(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 3))):
        paths = [path for path, _ in walk(app["spec"]) if path]
        if not paths:
            break
        *parents, last = draw(st.sampled_from(paths))
        holder: Any = app["spec"]
        for step in parents:
            holder = holder[step]
        if draw(st.integers(0, 4)):
            holder[last] = deepcopy(draw(VALUES))
        else:
            del holder[last]
    return app


def facts_about(app: Mapping[str, Any]) -> Facts:
    counts = KnownCounts({"views": 8, "users": 8, "shops": 8, "enriched": None})
    newest = newest_generation(dict(app))
    return Facts(
        AppFacts(dict(app), newest), 1_000.0, cluster=ClusterFacts(counts={newest.generation: counts})
    )


@given(malformed())
def test_no_resource_makes_the_operator_fail(app: dict[str, Any]) -> None:
    decision = decide(facts_about(app), replace(INSTALLATION, storage_class="standard"))
    assert decision.internal_error is None
    accepted = next(one for one in decision.status["conditions"] if one["type"] == "Accepted")
    assert accepted["reason"] != Reason.INTERNAL_ERROR
    assert decision.status["observedGeneration"] == app["metadata"]["generation"]
