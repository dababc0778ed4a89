"""A write that would change nothing is left out: what we think of that, beside what the API server does."""

import asyncio
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamapp_operator.controller.client.api_cluster_client import FIELD_MANAGER, ApiClusterClient
from streamapp_operator.controller.client.apply_diff import is_applied
from streamapp_operator.controller.client.manifest import object_path
from streamapp_operator.controller.client.resource_kinds import kind_of
from tests.harness.api_server.api_cluster import cluster
from tests.harness.api_server.api_server import ApiServer

_TEXTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["1", "2"]), max_size=3)
_PORTS = st.lists(
    st.sampled_from([{"name": "a", "port": 1}, {"name": "b", "port": 2}, {"name": "c", "port": 3}]),
    min_size=1,
    max_size=3,
    unique_by=lambda port: port["name"],
)


def _service(ports: list[dict[str, Any]], labels: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "one", "labels": labels},
        "spec": {"clusterIP": "None", "ports": ports, "selector": {"x": "y"}},
    }


def _config_map(data: dict[str, str], labels: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "one", "labels": labels},
        "data": data,
    }


def _role(verbs: list[str], labels: dict[str, str]) -> dict[str, Any]:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "one", "labels": labels},
        "rules": rules,
    }


_MANIFESTS = st.one_of(
    st.builds(_service, _PORTS, _TEXTS),
    st.builds(_config_map, _TEXTS, _TEXTS),
    st.builds(_role, st.lists(st.sampled_from(["get", "list"]), min_size=1, unique=True), _TEXTS),
)
_SAME_KIND = st.tuples(_MANIFESTS, _MANIFESTS).filter(lambda two: two[0]["kind"] == two[1]["kind"])


def _applied(server: ApiServer, namespace: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """By the server's own apply, whatever is there."""
    path = object_path(kind_of(manifest), namespace, "one")
    found: dict[str, Any] = server.ask(
        "PATCH", f"{path}?fieldManager={FIELD_MANAGER}&force=true", manifest, "application/apply-patch+yaml"
    )
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_SAME_KIND)
def test_what_agrees_is_what_the_server_would_leave_as_it_is(
    api_server: ApiServer, namespace: str, two: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    first, second = two
    there = _applied(api_server, namespace, first)
    thought = is_applied(second, there, FIELD_MANAGER)
    after = _applied(api_server, namespace, second)
    changed = there["metadata"]["resourceVersion"] != after["metadata"]["resourceVersion"]
    assert thought is not changed


@pytest.mark.parametrize(
    "manifest",
    [
        _service([{"name": "a", "port": 1}, {"name": "b", "port": 2}], {"a": "1"}),
        _config_map({"a": "1"}, {}),
        _role(["get"], {"a": "1"}),
    ],
    ids=lambda manifest: str(manifest["kind"]),
)
def test_an_object_agrees_with_itself_although_the_server_filled_it_in(
    api_server: ApiServer, namespace: str, manifest: dict[str, Any]
) -> None:
    assert is_applied(manifest, _applied(api_server, namespace, manifest), FIELD_MANAGER)


def test_what_was_made_and_not_applied_does_not_agree_yet(api_server: ApiServer, namespace: str) -> None:
    """So that fields we stop giving later are ours to take away."""
    manifest = _config_map({"a": "1"}, {})
    made = deepcopy(manifest)
    made["metadata"]["namespace"] = namespace

    async def do() -> Any:
        async with cluster(api_server.kubeconfig()) as api:
            here = ApiClusterClient(api.transport, (), lambda: 60.0, lambda: datetime.now(UTC))
            return await here.create(made)

    assert not is_applied(manifest, asyncio.run(do()), FIELD_MANAGER)
