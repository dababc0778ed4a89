"""The calls that steps make, against a real API server."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_errors import (
    LeadershipLostError,
    RejectedError,
    UnansweredError,
    WriteConflict,
)
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, EVENT, STREAM_APP
from tests.harness.api_server.api_cluster import cluster
from tests.harness.api_server.api_server import ApiServer


def _config_map(namespace: str, name: str = "one", **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "labels": {"streamapp.dev/app": "app"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def _app(namespace: str) -> dict[str, Any]:
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "app", "namespace": namespace},
        "spec": {
            "systems": [{"name": "main", "embedded": {"path": "./data"}}],
            "streams": [
                {"name": "views", "system": "main", "columns": "a STRING"},
                {"name": "copied", "system": "main"},
            ],
            "operators": [{"name": "out", "sendTo": {"from": "views", "stream": "copied"}}],
        },
    }


def _with(server: ApiServer, do: Callable[[ApiClusterClient], Awaitable[Any]], **how: Any) -> Any:
    async def doing() -> Any:
        async with cluster(server.kubeconfig(), **how) as found:
            return await do(found)

    return asyncio.run(doing())


def test_what_was_created_is_read(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        await api.create(_config_map(namespace, a="1"))
        return await api.read(CONFIG_MAP, namespace, "one")

    assert _with(api_server, do)["data"] == {"a": "1"}


def test_what_is_not_there_is_nothing(api_server: ApiServer, namespace: str) -> None:
    assert _with(api_server, lambda api: api.read(CONFIG_MAP, namespace, "one")) is None


def test_what_exists_is_not_created_again(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        await api.create(_config_map(namespace, a="1"))
        return await api.create(_config_map(namespace, a="2")), await api.read(CONFIG_MAP, namespace, "one")

    answer, found = _with(api_server, do)
    assert answer is WriteConflict.EXISTS
    assert found["data"] == {"a": "1"}


def test_an_object_that_is_invalid_is_rejected_with_the_servers_words(
    api_server: ApiServer, namespace: str
) -> None:
    with pytest.raises(RejectedError, match="a lowercase RFC 1123") as caught:
        _with(api_server, lambda api: api.create(_config_map(namespace, name="NO")))
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")


def test_objects_are_selected_by_label(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        other = _config_map(namespace, "other")
        other["metadata"]["labels"] = {"streamapp.dev/app": "another"}
        await api.create(other)
        await api.create(_config_map(namespace, "one"))
        return await api.select(CONFIG_MAP, namespace, {"streamapp.dev/app": "app"})

    (found,) = _with(api_server, do)
    assert found["metadata"]["name"] == "one"
    assert found["kind"] == "ConfigMap"


def test_a_list_longer_than_a_chunk_is_read_to_its_end(
    api_server: ApiServer, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamapp_operator.controller.client.api_cluster_client.LIST_LIMIT", 2)

    async def do(api: ApiClusterClient) -> Any:
        for number in range(5):
            await api.create(_config_map(namespace, f"number-{number}"))
        return await api.select(CONFIG_MAP, namespace, {"streamapp.dev/app": "app"})

    assert len(_with(api_server, do)) == 5


def _ours(_: Manifest) -> bool:
    return True


def test_an_object_that_may_not_be_changed_is_left_alone(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        before = await api.create(_config_map(namespace, a="1"))
        assert await api.apply(_config_map(namespace, a="2"), lambda _: False) is WriteConflict.EXISTS
        return before, await api.read(CONFIG_MAP, namespace, "one")

    before, after = _with(api_server, do)
    assert after == before


def test_an_object_that_took_the_name_meanwhile_is_left_alone(api_server: ApiServer, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"

    def replaced(_: Manifest) -> bool:
        api_server.ask("DELETE", f"{path}/one")
        api_server.ask("POST", path, {"metadata": {"name": "one"}, "data": {"a": "mine"}})
        return True

    async def do(api: ApiClusterClient) -> Any:
        await api.apply(_config_map(namespace, a="1"), _ours)
        with pytest.raises(RejectedError, match="uid"):
            await api.apply(_config_map(namespace, a="2"), replaced)
        return await api.read(CONFIG_MAP, namespace, "one")

    assert _with(api_server, do)["data"] == {"a": "mine"}


def test_applying_what_is_so_writes_nothing(api_server: ApiServer, namespace: str) -> None:
    counted: list[tuple[str, str]] = []

    async def do(api: ApiClusterClient) -> Any:
        first = await api.apply(_config_map(namespace, a="1"), _ours)
        counted.clear()
        return first, await api.apply(_config_map(namespace, a="1"), _ours)

    first, second = _with(api_server, do, counted=counted)
    assert first["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]
    assert counted == [("get", "200")]


def test_a_field_that_is_no_longer_given_goes(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        await api.apply(_config_map(namespace, a="1", b="2"), _ours)
        return await api.apply(_config_map(namespace, a="1"), _ours)

    assert _with(api_server, do)["data"] == {"a": "1"}


def test_what_someone_else_changed_is_put_right(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        await api.apply(_config_map(namespace, a="1"), _ours)
        path = f"/api/v1/namespaces/{namespace}/configmaps/one"
        api_server.ask("PATCH", path, {"data": {"a": "9"}}, "application/merge-patch+json")
        return await api.apply(_config_map(namespace, a="1"), _ours)

    assert _with(api_server, do)["data"] == {"a": "1"}


def test_only_the_object_with_that_uid_is_deleted(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        made = await api.create(_config_map(namespace))
        assert isinstance(made, dict)
        other = await api.delete(CONFIG_MAP, namespace, "one", uid="00000000-0000-0000-0000-000000000000")
        kept = await api.read(CONFIG_MAP, namespace, "one")
        same = await api.delete(CONFIG_MAP, namespace, "one", uid=made["metadata"]["uid"])
        return other, kept is not None, same, await api.delete(CONFIG_MAP, namespace, "one")

    assert _with(api_server, do) == (False, True, True, False)


def test_a_status_is_put_in_place_of_the_last(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        app = await api.create(_app(namespace))
        app = await api.patch_status(app, {"phase": "Running", "conditions": [], "tasks": 3})
        return await api.patch_status(app, {"phase": "Stopped", "conditions": []})

    assert _with(api_server, do)["status"] == {"phase": "Stopped", "conditions": []}


def test_the_status_that_is_there_is_not_written_again(api_server: ApiServer, namespace: str) -> None:
    counted: list[tuple[str, str]] = []

    async def do(api: ApiClusterClient) -> Any:
        app = await api.patch_status(
            await api.create(_app(namespace)), {"phase": "Running", "conditions": []}
        )
        counted.clear()
        return await api.patch_status(app, {"phase": "Running", "conditions": []})

    assert _with(api_server, do, counted=counted)["status"] == {"phase": "Running", "conditions": []}
    assert counted == []


def test_a_status_is_not_put_on_an_app_that_has_changed(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        app = await api.create(_app(namespace))
        await api.patch_status(app, {"phase": "Running", "conditions": []})
        return await api.patch_status(app, {"phase": "Stopped", "conditions": []})

    assert _with(api_server, do) is WriteConflict.CONFLICT


def test_a_status_is_not_put_on_an_app_that_is_gone_or_made_anew(
    api_server: ApiServer, namespace: str
) -> None:
    async def do(api: ApiClusterClient) -> Any:
        app = await api.create(_app(namespace))
        await api.delete(STREAM_APP, namespace, "app")
        gone = await api.patch_status(app, {"phase": "Running", "conditions": []})
        await api.create(_app(namespace))
        return gone, await api.patch_status(app, {"phase": "Running", "conditions": []})

    assert _with(api_server, do) == (WriteConflict.CONFLICT, WriteConflict.CONFLICT)


def test_an_event_told_twice_is_one_that_counts_two(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        app = await api.create(_app(namespace))
        await api.event(app, "Warning", "JoinPartitionMismatch", "views has 8, users 6")
        await api.event(app, "Warning", "JoinPartitionMismatch", "views has 8, users 6")
        return await api.select(EVENT, namespace, {})

    (found,) = _with(api_server, do)
    assert (found["count"], found["reason"], found["type"]) == (2, "JoinPartitionMismatch", "Warning")
    shown = api_server.kubectl("describe", "-n", namespace, "sapp/app").stdout
    assert "views has 8, users 6" in shown


def test_who_does_not_lead_reads_and_does_not_write(api_server: ApiServer, namespace: str) -> None:
    async def do(api: ApiClusterClient) -> Any:
        assert await api.read(CONFIG_MAP, namespace, "one") is None
        with pytest.raises(LeadershipLostError):
            await api.create(_config_map(namespace))
        return await api.read(CONFIG_MAP, namespace, "one")

    assert _with(api_server, do, leads=0.0) is None


def test_a_write_takes_no_longer_than_this_replica_surely_leads(
    api_server: ApiServer, namespace: str
) -> None:
    with pytest.raises(UnansweredError):
        _with(api_server, lambda api: api.create(_config_map(namespace)), leads=0.000001)
