"""A cluster that lets in only who is known, and lets them do only what they may: by SCRAM, by certificate."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.systems.connection import KafkaConnection
from streamapp_runtime.systems.stream_system import DeniedError
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import QUIET
from tests.harness.kafka.secured_broker import PASSWORD, USER, certificate, mounted
from tests.harness.runs.app_runs import AppEnv, app, inputs, last_by_key
from tests.harness.runs.run_systems import kafka, no_session

TOPIC, WRITER = ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",  # who comes by the open door
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
    "listener.name.scram.scram-sha-512.sasl.jaas.config": LOGIN,
    "listener.name.mutual.ssl.client.auth": "required",
    "ssl.keystore.type": "PEM",
    "ssl.truststore.type": "PEM",
}


@dataclass(frozen=True, slots=True)
class Gate:
    """A way into the cluster, for one principal."""

    broker: Broker
    principal: str
    connection: KafkaConnection

    def allow(self, kind: ResourceType, name: str, *operations: AclOperation) -> None:
        self._say(AclPermissionType.ALLOW, kind, name, operations)

    def deny(self, kind: ResourceType, name: str, *operations: AclOperation) -> None:
        self._say(AclPermissionType.DENY, kind, name, operations)

    def _say(
        self, what: AclPermissionType, kind: ResourceType, name: str, operations: tuple[AclOperation, ...]
    ) -> None:
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap, **QUIET})
        pattern = ResourcePatternType.PREFIXED
        rules = [AclBinding(kind, name, pattern, self.principal, "*", each, what) for each in operations]
        for made in admin.create_acls(rules).values():
            made.result(60)


@pytest.fixture(scope="module")
def gates(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Gate]]:
    folder = tmp_path_factory.mktemp("gates")
    shown, key = certificate(folder, "broker")
    (folder / "broker.pem").write_text(key + shown)
    mine, my_key = certificate(folder, "client")
    pem = {"ssl.keystore.location": "broker.pem", "ssl.truststore.location": "client.crt"}
    files = {name: str(folder / file) for name, file in pem.items()}
    guards = {"SCRAM": "SASL_PLAINTEXT", "MUTUAL": "SSL"}
    broker = Broker(folder / "broker", SETTINGS | files, guards)
    broker.start()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, **QUIET})
    scram = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    user = UserScramCredentialUpsertion(USER, scram, PASSWORD.encode())
    admin.alter_user_scram_credentials([user])[USER].result(60)
    password = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": USER,
        "sasl.password": PASSWORD,
    }
    cert = {
        "security.protocol": "SSL",
        "ssl.ca.pem": shown,
        "ssl.certificate.pem": mine,
        "ssl.key.pem": my_key,
    }
    by_scram, by_cert = (
        KafkaConnection(broker.guarded(guard), {}, str(mounted(folder / guard, entries)))
        for guard, entries in (("SCRAM", password), ("MUTUAL", cert))
    )
    yield {
        "scram": Gate(broker, f"User:{USER}", by_scram),
        "certificate": Gate(broker, "User:CN=client", by_cert),
    }
    broker.stop()


@pytest.fixture(params=["scram", "certificate"])
def gate(gates: dict[str, Gate], request: pytest.FixtureRequest) -> Gate:
    return gates[request.param]


@pytest.fixture
def owner(gate: Gate, tmp_path: Path) -> Iterator[AppEnv]:
    """Who may do everything."""
    with kafka(no_session(), tmp_path / "owner", KafkaConnection(gate.broker.bootstrap)) as env:
        yield env


@pytest.fixture
def env(gate: Gate, owner: AppEnv, tmp_path: Path) -> Iterator[AppEnv]:
    """Who may do only what is allowed."""
    with kafka(no_session(), tmp_path, gate.connection, owner.prefix) as env:
        yield env


def counted() -> StreamApp:
    return app(
        {"name": "by-page", "partitionBy": {"from": "views", "key": "page", "partitions": 2}},
        {"name": "per-page", "aggregate": {"from": "by-page", "key": "page", "aggregates": "count(*) AS n"}},
        {"name": "told", "sendTo": {"from": "per-page", "stream": "totals"}},
        streams=[
            {"name": "views", "key": "user", "columns": "user STRING, page STRING"},
            {"name": "totals", "key": "page"},
        ],
    )


def view(owner: AppEnv, count: int) -> None:
    rows = [{"user": f"u{n}", "page": f"/{n % 3}"} for n in range(count)]
    owner.write("views", inputs(rows, "user"), partitions=2)


def allowed(gate: Gate, env: AppEnv) -> None:
    """What the page on Kafka says that an app needs."""
    own = env.in_environment(counted()).application_id
    gate.allow(TOPIC, f"{env.prefix}views", AclOperation.READ)
    mine = (AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE, AclOperation.DESCRIBE_CONFIGS)
    gate.allow(TOPIC, f"{own}.", *mine, AclOperation.DELETE)
    gate.allow(TOPIC, f"{env.prefix}totals", AclOperation.WRITE)
    gate.allow(WRITER, f"{own}.checkpoint.", AclOperation.WRITE)


def test_what_the_guide_names_is_enough_to_start_and_to_start_again(
    gate: Gate, owner: AppEnv, env: AppEnv
) -> None:
    allowed(gate, env)
    owner.system.create(f"{owner.prefix}totals", 2)
    for count in (6, 3):
        view(owner, count)
        env.run(counted())
    totals = {key: value["n"] for key, value in last_by_key(owner.records("totals")).items()}
    assert totals == {"/0": 3, "/1": 3, "/2": 3}


@pytest.mark.parametrize(
    ("stream", "operation"), [("totals", AclOperation.WRITE), ("views", AclOperation.READ)]
)
def test_a_topic_that_may_not_be_written_or_read_is_named(
    gate: Gate, owner: AppEnv, env: AppEnv, stream: str, operation: AclOperation
) -> None:
    allowed(gate, env)
    owner.system.create(f"{owner.prefix}totals", 2)
    gate.deny(TOPIC, f"{env.prefix}{stream}", operation)
    view(owner, 3)
    with pytest.raises(FailedError, match=rf"{env.prefix}{stream}.*permissions"):
        env.run(counted())


def test_a_transactional_id_that_may_not_be_used_is_named(gate: Gate, owner: AppEnv, env: AppEnv) -> None:
    allowed(gate, env)
    gate.deny(WRITER, f"{env.prefix}", AclOperation.WRITE)
    view(owner, 3)
    with pytest.raises(DeniedError, match=rf"{env.prefix}test.app.checkpoint.*permissions"):
        env.launched(counted())
