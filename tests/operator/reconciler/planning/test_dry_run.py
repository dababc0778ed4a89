"""What the API server would not take is refused before the running driver is ended, in the server's words."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from streamapp_operator.controller.client.api_errors import RejectedError
from streamapp_operator.reconciler.installation import Allowance
from streamapp_operator.reconciler.planning.pod_refusals import lacks_account, pod_refusal
from tests.harness.core.all_cases import all_cases
from tests.harness.machine.processes import until
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

OVER_LIMIT = {"resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "2", "memory": "2Gi"}}}
NO_LABEL_VALUE = {"template": {"spec": {"nodeSelector": {"disk": "not a label value!"}}}}
NO_TOLERATION = {"template": {"spec": {"tolerations": [{"operator": "Sometimes"}]}}}
BAD_LABEL = {"template": {"metadata": {"labels": {"team": "a b"}}}}
NO_CLASS = {"template": {"spec": {"priorityClassName": "no-such-class"}}}


REFUSED = (
    (OVER_LIMIT, "must be less than or equal to cpu limit"),
    (NO_LABEL_VALUE, "not a label value!"),
    (NO_TOLERATION, "Sometimes"),
    (BAD_LABEL, "a b"),
    (NO_CLASS, "no-such-class"),
)
"""Edits of a pod, and words of the API server's refusal."""


@ON_REAL_SERVER
def test_an_edit_that_the_api_server_would_refuse_ends_nothing(sim: OperatorSim) -> None:
    sim.bring_up(join())
    with all_cases() as case:
        for role, (edit, words) in product(("driver", "executor"), REFUSED):
            with case(f"{role}: {words}"):
                sim.edit(**{role: edit})
                sim.settle()
                assert sim.says("Accepted") == ("False", "PodsRefused")
                message = sim.condition("Accepted")["message"]
                assert f"spec.{role}" in message
                assert words in message
                assert sim.says("Ready") == ("True", "Running")
                assert [pod["metadata"]["name"] for pod in sim.drivers()] == ["app-driver-1"]
                assert "deletionTimestamp" not in sim.drivers()[0]["metadata"]
                sim.edit(**{role: None})
                sim.settle()
                assert sim.says("Accepted") == ("True", "Accepted")
                assert [pod["metadata"]["name"] for pod in sim.drivers()] == ["app-driver-1"]


@ON_REAL_SERVER
def test_a_new_app_whose_pods_are_refused_gets_no_objects(sim: OperatorSim) -> None:
    sim.apply(join(driver=NO_LABEL_VALUE))
    sim.settle()
    assert sim.says("Accepted") == ("False", "PodsRefused")
    assert sim.names("configmaps") == sim.names("services") == sim.names("pods") == []


@ON_REAL_SERVER
def test_the_policy_of_a_namespace_speaks_at_the_same_door(sim: OperatorSim) -> None:
    sim.bring_up(join())
    label = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    sim.server.ask("PATCH", f"/api/v1/namespaces/{sim.namespace}", label, "application/merge-patch+json")
    sim.installation = replace(sim.installation, allowed=frozenset({Allowance.PRIVILEGED}))
    unconfined = {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}
    sidecar = {"name": "sidecar", "image": "helper:1", **unconfined}
    sim.edit(driver={"template": {"spec": {"containers": [sidecar]}}})
    sim.settle()
    assert sim.says("Accepted") == ("False", "PodsRefused")
    assert "violates PodSecurity" in sim.condition("Accepted")["message"]
    assert sim.says("Ready") == ("True", "Running")


@ON_REAL_SERVER
def test_a_limit_range_refuses_until_it_is_gone(sim: OperatorSim) -> None:
    sim.bring_up(join())
    path = f"/api/v1/namespaces/{sim.namespace}/limitranges"
    limits = [{"type": "Container", "max": {"memory": "3Gi"}}]
    sim.server.ask("POST", path, {"metadata": {"name": "small"}, "spec": {"limits": limits}})
    big = {"resources": {"requests": {"memory": "8Gi"}, "limits": {"memory": "8Gi"}}}
    until(lambda: _is_refused(sim, big), 20)
    sim.edit(driver=big)
    sim.settle()
    assert sim.says("Accepted") == ("False", "PodsRefused")
    assert "maximum memory usage per Container is 3Gi" in sim.condition("Accepted")["message"]
    sim.server.ask("DELETE", f"{path}/small")
    until(lambda: not _is_refused(sim, big), 20)
    sim.pass_time(31)
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")


def _is_refused(sim: OperatorSim, container: dict[str, Any]) -> bool:
    """Whether the API server has seen a change of its limits, which it keeps in a cache."""
    pod = {
        "metadata": {"name": "probe"},
        "spec": {"containers": [{"name": "main", "image": "none", **container}]},
    }
    code, _ = sim.server.call("POST", f"/api/v1/namespaces/{sim.namespace}/pods?dryRun=All", pod)
    return code == 403


@ON_REAL_SERVER
def test_an_edit_that_restarts_nothing_is_not_tried(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.calls.clear()
    sim.edit(processors=3)
    sim.settle()
    assert ("create", "200") not in sim.calls


def _error(text: str) -> RejectedError:
    return RejectedError(403, "Forbidden", text)


@pytest.mark.parametrize(
    ("asked", "limited", "is_refused"),
    [
        ("pods=1", "pods=1", False),
        ("requests.cpu=1e3", "requests.cpu=999", True),
        ("requests.cpu=999", "requests.cpu=1E3", False),
        ("requests.cpu=.5,requests.memory=1.e2", "requests.cpu=500m,requests.memory=0.1k", False),
        ("requests.cpu=1x", "requests.cpu=2", False),
        ("requests.cpu=2", "requests.cpu=1500m", True),
        ("limits.memory=2Gi,requests.cpu=500m", "limits.memory=2048Mi,requests.cpu=1", False),
        ("limits.memory=2049Mi,requests.cpu=500m", "limits.memory=2Gi,requests.cpu=1", True),
    ],
)
def test_a_quota_refuses_only_what_would_never_fit(asked: str, limited: str, is_refused: bool) -> None:
    text = f'pods "app-driver-0" is forbidden: exceeded quota: few, requested: {asked}, used: {limited}'
    refusal = pod_refusal(_error(f"{text}, limited: {limited}"))
    assert (refusal is not None) is is_refused


@pytest.mark.parametrize(
    "text",
    [
        'admission webhook "check.example.com" does not support dry run',
        'pods is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods" in API group ""',
    ],
)
def test_what_is_no_word_on_the_pod_refuses_nothing(text: str) -> None:
    assert pod_refusal(_error(text)) is None


def test_an_account_that_is_made_at_the_start_is_not_missed() -> None:
    error = _error(
        'pods "app-driver-0" is forbidden: error looking up service account '
        'shop/app-driver: serviceaccount "app-driver" not found'
    )
    assert lacks_account(error, "app-driver")
    assert not lacks_account(error, "driver")


@ON_REAL_SERVER
def test_a_quota_with_an_exponent_is_read_as_the_api_server_reads_it(sim: OperatorSim) -> None:
    path = f"/api/v1/namespaces/{sim.namespace}/resourcequotas"
    hard = {"requests.memory": "1e9"}
    sim.server.ask("POST", path, {"metadata": {"name": "few"}, "spec": {"hard": hard}})
    status = {"status": {"hard": hard, "used": {"requests.memory": "0"}}}
    sim.server.ask("PATCH", f"{path}/few/status", status, "application/merge-patch+json")
    big = {"resources": {"requests": {"memory": "2e9"}}}
    until(lambda: _is_refused(sim, big), 20)
    sim.apply(join())
    sim.settle()
    assert sim.says("Accepted") == ("False", "PodsRefused")
    assert "limited: requests.memory=1e9" in sim.condition("Accepted")["message"]
