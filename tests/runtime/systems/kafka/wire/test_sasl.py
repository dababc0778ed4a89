"""Logins by SASL at a real broker: each mechanism, those that it refuses, and those whose time is over."""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from streamapp.spec.resource.kafka_settings import TOKEN_FUNCTION
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.kafka.wire.client_settings import client_settings
from streamapp_runtime.systems.kafka.wire.requests.broker_connection import BrokerConnection
from streamapp_runtime.systems.kafka.wire.requests.broker_pool import parse_addresses
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.requests.request_versions import METADATA
from streamapp_runtime.systems.kafka.wire.wire_setup import wire_setup
from streamapp_runtime.systems.stream_system import DeniedError, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import texts, values, write
from tests.harness.kafka.broker import Broker
from tests.harness.kafka.clients import QUIET
from tests.harness.kafka.secured_broker import PASSWORD, USER, certificate
from tests.harness.kafka.token_endpoint import CLIENT, SECRET, TokenEndpoint, token_endpoint

MODULES = "org.apache.kafka.common.security"
LOGINS = {
    "plain": f'{MODULES}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
    "scram-sha-256": f"{MODULES}.scram.ScramLoginModule required;",
    "scram-sha-512": f"{MODULES}.scram.ScramLoginModule required;",
    "oauthbearer": f"{MODULES}.oauthbearer.OAuthBearerLoginModule required;",
}
MECHANISMS = [name.upper() for name in LOGINS]
SESSION_SECONDS = 1.5  # brokers take no login again within a second


@dataclass(frozen=True, slots=True)
class Gates:
    """A broker with listeners that ask for a login, by TLS and without, and who gives out tokens."""

    broker: Broker
    certificate: str
    tokens: TokenEndpoint

    def settings(self, mechanism: str, protocol: str = "SASL_PLAINTEXT", **other: str) -> dict[str, str]:
        settings = {"security.protocol": protocol, "sasl.mechanism": mechanism}
        if protocol == "SASL_SSL":
            settings["ssl.ca.pem"] = self.certificate
        if mechanism == "OAUTHBEARER":
            settings |= {
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.token.endpoint.url": self.tokens.url,
                "sasl.oauthbearer.client.id": CLIENT,
                "sasl.oauthbearer.client.secret": SECRET,
                "sasl.oauthbearer.scope": "streams",
            }
        else:
            settings |= {"sasl.username": USER, "sasl.password": PASSWORD}
        return settings | {name.replace("_", "."): value for name, value in other.items()}


@pytest.fixture(scope="module")
def gates(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gates]:
    folder = tmp_path_factory.mktemp("gates")
    shown, key = certificate(folder, "broker")
    (folder / "broker.pem").write_text(key + shown)
    guards = {
        "PLAIN": "SASL_PLAINTEXT",
        "TLS": "SASL_SSL",
        "SHORT": "SASL_PLAINTEXT",
        "ONE": "SASL_PLAINTEXT",
    }
    settings = {
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
        "listener.name.one.sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
    }
    for guard in guards:
        for mechanism, login in LOGINS.items():
            settings[f"listener.name.{guard.lower()}.{mechanism}.sasl.jaas.config"] = login
    for mechanism in LOGINS:
        name = f"listener.name.short.{mechanism}.connections.max.reauth.ms"
        settings[name] = str(int(1000 * SESSION_SECONDS))
    broker = Broker(folder / "broker", settings, guards)
    broker.start()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, **QUIET})
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        change = UserScramCredentialUpsertion(USER, ScramCredentialInfo(mechanism, 4096), PASSWORD.encode())
        admin.alter_user_scram_credentials([change])[USER].result(60)
    with token_endpoint() as tokens:
        yield Gates(broker, shown, tokens)
    broker.stop()


@pytest.fixture(autouse=True)
def ordinary_tokens(gates: Gates) -> None:
    gates.tokens.good_seconds, gates.tokens.redirect = 300.0, ""


def initialised(address: str, settings: Mapping[str, str], timeout: float = 5) -> None:
    """Log in, and take over the name of a writer."""
    with closing(wire_setup(address, settings, timeout, BrokerTrouble()).producer("w")) as writer:
        writer.initialise()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("guard", ["PLAIN", "TLS"])
def test_records_and_topics_are_there_for_who_logs_in(gates: Gates, mechanism: str, guard: str) -> None:
    protocol = {"PLAIN": "SASL_PLAINTEXT", "TLS": "SASL_SSL"}[guard]
    settings = gates.settings(mechanism, protocol)
    with closing(KafkaSystem(gates.broker.guarded(guard), settings)) as system:
        topic = f"{guard}.{mechanism}"
        system.create(topic, 1)
        write(system, TopicPartition(topic, 0), values("a", "b"))
        assert texts(system, TopicPartition(topic, 0)) == ["a", "b"]
    if mechanism == "OAUTHBEARER":
        assert set(gates.tokens.scopes) == {"streams"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_wrong_password_is_told_at_once_and_not_repeated(gates: Gates, mechanism: str) -> None:
    settings = gates.settings(mechanism, sasl_password="wrong-horse")  # noqa: S106
    with pytest.raises(
        DeniedError, match=rf"refuses the login by {mechanism}.*uthentication failed"
    ) as refusal:
        initialised(gates.broker.guarded("PLAIN"), settings)
    assert "horse" not in str(refusal.value)


def test_a_mechanism_that_the_broker_does_not_offer_is_told_with_those_that_it_does(gates: Gates) -> None:
    with pytest.raises(DeniedError, match="no login by PLAIN: it offers SCRAM-SHA-256"):
        initialised(gates.broker.guarded("ONE"), gates.settings("PLAIN"))
    with pytest.raises(DeniedError, match="no login by PLAIN: its listener has none"):
        initialised(gates.broker.bootstrap, gates.settings("PLAIN"))


def test_who_does_not_log_in_is_not_answered(gates: Gates) -> None:
    with pytest.raises(UnavailableError, match="closed the connection"):
        initialised(gates.broker.guarded("PLAIN"), {}, timeout=2)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-512", "OAUTHBEARER"])
def test_a_connection_logs_in_again_before_its_time_is_over(gates: Gates, mechanism: str) -> None:
    """The broker ends a connection that asks for anything else after its time."""
    (address,) = parse_addresses(gates.broker.guarded("SHORT"))
    settings = client_settings(gates.settings(mechanism), 5)
    with closing(BrokerConnection(address, settings.connection)) as connection:
        ends = time.monotonic() + 2.5 * SESSION_SECONDS
        while time.monotonic() < ends:
            connection.ask(METADATA, lambda body: body.int32(0).int8(0))
            time.sleep(0.05)


def test_a_connection_whose_login_is_over_is_replaced(gates: Gates) -> None:
    settings = gates.settings("PLAIN")
    with closing(KafkaSystem(gates.broker.guarded("SHORT"), settings)) as system:
        system.create("short", 1)
        write(system, TopicPartition("short", 0), values("a"))
        time.sleep(1.5 * SESSION_SECONDS)
        write(system, TopicPartition("short", 0), values("b"))
        assert texts(system, TopicPartition("short", 0)) == ["a", "b"]


def test_a_token_is_used_for_as_long_as_it_is_good(gates: Gates) -> None:
    gates.tokens.good_seconds = 5.0
    settings = gates.settings("OAUTHBEARER")
    setup = wire_setup(gates.broker.guarded("PLAIN"), settings, 5, BrokerTrouble())
    given_before = len(gates.tokens.scopes)

    def count_of_tokens() -> int:
        with closing(setup.producer("w")) as writer:
            writer.initialise()
        return len(gates.tokens.scopes) - given_before

    assert [count_of_tokens(), count_of_tokens()] == [1, 1]
    time.sleep(5.0)
    assert count_of_tokens() == 2


def test_tokens_that_are_not_given_out_or_not_taken_are_told(gates: Gates) -> None:
    address = gates.broker.guarded("PLAIN")
    wrong = gates.settings("OAUTHBEARER", sasl_oauthbearer_client_secret="wrong-horse")  # noqa: S106
    with pytest.raises(DeniedError, match='/token gives "app" no token: invalid_client: no such') as refusal:
        initialised(address, wrong)
    assert "horse" not in str(refusal.value)
    gates.tokens.good_seconds = -100.0
    with pytest.raises(DeniedError, match=r"refuses the login by OAUTHBEARER.*invalid_token"):
        initialised(address, gates.settings("OAUTHBEARER"))
    gates.tokens.redirect = gates.tokens.url
    with pytest.raises(DeniedError, match="no token: 307"):
        initialised(address, gates.settings("OAUTHBEARER"))


def test_a_function_of_the_apps_own_gives_tokens_to_both_clients(gates: Gates) -> None:
    function = "tests.harness.kafka.token_endpoint:granted_token"
    settings = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        TOKEN_FUNCTION: function,
    }
    with closing(KafkaSystem(gates.broker.guarded("PLAIN"), settings)) as system:
        system.create("granted", 1)
        write(system, TopicPartition("granted", 0), values("a"))
        assert texts(system, TopicPartition("granted", 0)) == ["a"]
    settings[TOKEN_FUNCTION] = "tests.harness.kafka.token_endpoint:unsigned_token"
    with pytest.raises(DeniedError, match=r"unsigned_token failed: TypeError; call it in a pod of the app"):
        initialised(gates.broker.guarded("PLAIN"), settings)
    with (
        closing(KafkaSystem(gates.broker.guarded("PLAIN"), settings)) as system,
        pytest.raises(DeniedError, match=r"^the token function .*unsigned_token failed: TypeError; call it"),
    ):
        system.streams()


def test_an_endpoint_that_does_not_answer_is_waited_for(gates: Gates) -> None:
    endpoint = "http://127.0.0.1:1/token"
    settings = gates.settings("OAUTHBEARER", sasl_oauthbearer_token_endpoint_url=endpoint)
    with pytest.raises(UnavailableError, match=r"127.0.0.1:1/token: .*refused"):
        initialised(gates.broker.guarded("PLAIN"), settings, timeout=0.5)
