"""Partition counts of a real broker, one cache for all who share it, and brokers that are away."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.kafka_settings import OAUTH_ENDPOINT, TOKEN_FUNCTION
from streamapp_operator.reconciler.installation import AllowLists, Installation
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    PartitionCounts,
    PendingCounts,
    SystemMisconfigured,
    SystemUnavailable,
)
from streamapp_operator.reconciler.partition_counts.partition_lookup import LivePartitionLookup
from tests.harness.machine.processes import until
from tests.harness.operator.golden_objects import INSTALLATION
from tests.harness.operator.looked_up_apps import Secrets, answered, app, cast_cluster

NOBODY = "127.0.0.1:1"


def counts(
    asked: StreamApp,
    cluster: Any = None,
    now: Callable[[], float] = lambda: 0.0,
    installation: Installation = INSTALLATION,
) -> PartitionCounts:
    async def ask() -> PartitionCounts:
        lookups = LivePartitionLookup(cluster or Secrets(), now, installation)
        try:
            return await answered(lookups, asked)
        finally:
            await lookups.close()

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


def test_brokers_are_left_to_the_driver_where_only_the_app_s_code_has_a_token() -> None:
    found = counts(app(NOBODY, config={TOKEN_FUNCTION: "tokens:given"}))
    assert isinstance(found, KnownCounts)
    assert found.counts == {}
    assert {"views", "users", "enriched"} <= found.only_driver


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
    "endpoint",
    [
        "http://169.254.169.254/latest",
        "https://login.example.com.evil.example/token",
        "https://login.example.com@evil.example/token",
        "https://evil.example\\@login.example.com/token",
        "https://login.example.com",
        "ftp://login.example.org/token",
    ],
)
def test_no_endpoint_is_asked_for_a_token_unless_the_installation_allows_its_host(endpoint: str) -> None:
    """Also where the installation that accepted the app allowed it."""
    settings = {"sasl.mechanism": "OAUTHBEARER", OAUTH_ENDPOINT: endpoint}
    installation = replace(INSTALLATION, allow_lists=AllowLists(hosts=("*.example.org", "login.example.net")))
    asked = counts(app(NOBODY, credentials="client"), Secrets(client=settings), installation=installation)
    assert isinstance(asked, SystemUnavailable)
    assert "it is not asked: this installation does not allow the token endpoint at the host" in asked.message


@pytest.mark.usefixtures("process")
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
        lookups = LivePartitionLookup(
            cast_cluster(Secrets()), lambda: now[0], INSTALLATION, answer_seconds=1.0
        )
        away = app(NOBODY)
        first = await lookups.counts(away)
        assert isinstance(first, PendingCounts | SystemUnavailable)
        other = await answered(lookups, app(kafka))  # nobody waits for the one that is away
        waits = []
        for _ in range(3):
            found = await answered(lookups, away)
            assert isinstance(found, SystemUnavailable)
            waits.append(found.seconds)
            now[0] += found.seconds + 0.1
        await lookups.close()
        return waits, other

    waits, other = asyncio.run(ask())
    assert [round(wait) for wait in waits] == [2, 4, 8]
    assert isinstance(other, KnownCounts)


def test_apps_that_share_brokers_and_credentials_share_a_cache(kafka: str) -> None:
    async def ask() -> int:
        lookups = LivePartitionLookup(cast_cluster(Secrets()), lambda: 0.0, INSTALLATION)
        await answered(lookups, app(kafka))
        await answered(lookups, app(kafka, "other-"))
        await lookups.close()
        return lookups.clusters

    assert asyncio.run(ask()) == 1
