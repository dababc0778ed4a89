"""Partition counts of a real broker, one client for all who share it, and brokers that are away."""

import asyncio
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    PartitionCounts,
    PendingCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.partition_counts.partition_lookup import LivePartitionLookup
from tests.harness.machine.processes import until
from tests.harness.operator.small_apps import join

NOBODY = "127.0.0.1:1"


class Secrets:
    """A cluster that has Secrets and nothing else."""

    def __init__(self, **found: dict[str, str]) -> None:
        self._found = found

    async def read(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        entries = self._found.get(name)
        if entries is None or namespace != "shop":
            return None
        return {"data": {key: b64encode(value.encode()).decode() for key, value in entries.items()}}

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is not asked for counts")


def app(brokers: str, prefix: str = "", credentials: str | None = None, **spec: Any) -> StreamApp:
    kafka: dict[str, Any] = {"bootstrapServers": brokers}
    if credentials:
        kafka["configSecret"] = {"name": credentials}
    data = join(systems=[{"name": "main", "kafka": kafka}], **spec)
    data["metadata"]["namespace"] = "shop"
    for stream in data["spec"]["streams"]:
        stream["topic"] = f"{prefix}{stream['name']}"
    (found,) = parse_data(data).apps
    return found


async def _answered(lookups: LivePartitionLookup, asked: StreamApp) -> PartitionCounts:
    for _ in range(60):
        found = await lookups.counts(asked)
        if not isinstance(found, PendingCounts):
            return found
    raise AssertionError("no answer")


def counts(asked: StreamApp, cluster: Any = None, now: Callable[[], float] = lambda: 0.0) -> PartitionCounts:
    async def ask() -> PartitionCounts:
        lookups = LivePartitionLookup(cluster or Secrets(), now)
        try:
            return await _answered(lookups, asked)
        finally:
            lookups.close()

    return asyncio.run(ask())


def topics(brokers: str, **partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": brokers})
    made = admin.create_topics([NewTopic(name, num_partitions=n) for name, n in partitions.items()])
    for future in made.values():
        future.result(30)
    until(lambda: partitions.keys() <= admin.list_topics(timeout=10).topics.keys(), 30)


def test_topics_are_counted_and_those_that_are_not_there_have_no_count(kafka: str) -> None:
    prefix = f"t{uuid4().hex[:8]}-"
    topics(kafka, **{f"{prefix}views": 6, f"{prefix}users": 3})
    found = counts(app(kafka, prefix))
    assert isinstance(found, KnownCounts)
    assert {name: found.counts[name] for name in ("views", "users", "enriched")} == {
        "views": 6,
        "users": 3,
        "enriched": None,
    }


def test_the_stream_of_checkpoints_is_looked_for_too(kafka: str) -> None:
    id_ = f"id{uuid4().hex[:8]}"
    topics(kafka, **{f"{id_}.checkpoint": 1})
    found = counts(app(kafka, applicationId=id_))
    assert isinstance(found, KnownCounts)
    assert found.counts[f"{id_}.checkpoint"] == 1


def test_settings_come_from_the_app_s_secret(kafka: str) -> None:
    found = counts(app(kafka, credentials="client"), Secrets(client={"client.id": "shop"}))
    assert isinstance(found, KnownCounts)


def test_a_secret_that_is_not_there_is_named_with_its_field() -> None:
    found = counts(app(NOBODY, credentials="client"))
    assert isinstance(found, SystemMisconfigured)
    assert found.path == "spec.systems[0].kafka.configSecret"
    assert 'there is no Secret "client" in namespace shop' in found.message


def test_what_a_secret_may_not_say_is_counted_and_neither_names_nor_values_are_told() -> None:
    said = {"plugin.library.paths": "evil.so", "sasl.kerberos.kinit.cmd": "rm -rf"}
    found = counts(app(NOBODY, credentials="client"), Secrets(client=said))
    assert isinstance(found, SystemMisconfigured)
    assert "2 of its keys are no client settings that an app may have" in found.message
    assert "plugin.library.paths" not in found.message
    assert "evil" not in found.message
    assert "rm -rf" not in found.message


@pytest.mark.parametrize(
    "entries",
    [{"security.protocol": "hunter2"}, {"ssl.endpoint.identification.algorithm": "hunter2"}],
    ids=lambda entries: next(iter(entries)),
)
def test_a_value_of_a_secret_that_the_client_refuses_is_not_told(entries: dict[str, str]) -> None:
    found = counts(app(NOBODY, credentials="client"), Secrets(client=entries))
    assert isinstance(found, SystemMisconfigured | SystemUnavailable)
    assert next(iter(entries)) in found.message
    assert "hunter2" not in found.message


def test_brokers_that_are_away_are_asked_ever_more_seldom_and_others_are_answered_meanwhile(
    kafka: str,
) -> None:
    now = [0.0]

    async def ask() -> tuple[list[float], PartitionCounts]:
        lookups = LivePartitionLookup(cast_cluster(Secrets()), lambda: now[0], answer_seconds=1.0)
        away = app(NOBODY)
        first = await lookups.counts(away)
        assert isinstance(first, PendingCounts | SystemUnavailable)
        other = await _answered(lookups, app(kafka))  # nobody waits for the one that is away
        waits = []
        for _ in range(3):
            found = await _answered(lookups, away)
            assert isinstance(found, SystemUnavailable)
            waits.append(found.seconds)
            now[0] += found.seconds + 0.1
        lookups.close()
        return waits, other

    waits, other = asyncio.run(ask())
    assert [round(wait) for wait in waits] == [2, 4, 8]
    assert isinstance(other, KnownCounts)


def test_apps_that_share_brokers_and_credentials_share_a_client(kafka: str) -> None:
    async def ask() -> int:
        lookups = LivePartitionLookup(cast_cluster(Secrets()), lambda: 0.0)
        await _answered(lookups, app(kafka))
        await _answered(lookups, app(kafka, "other-"))
        lookups.close()
        return lookups.clients

    assert asyncio.run(ask()) == 1


def cast_cluster(found: Secrets) -> ClusterClient:
    cluster: Any = found
    return cluster
