"""Brokers that are away or do not resolve: address and reason, soon, whatever was asked."""

from collections.abc import Callable

import pytest

from streamapp_runtime.systems.kafka import cluster_admin
from streamapp_runtime.systems.kafka.client_errors import connection_failure
from streamapp_runtime.systems.kafka.cluster_admin import ClusterAdmin
from streamapp_runtime.systems.kafka.topics import Topics
from streamapp_runtime.systems.stream_system import StreamOptions, UnavailableError
from tests.harness.machine.processes import free_port

QUESTIONS: dict[str, Callable[[Topics], object]] = {
    "all": Topics.all,
    "find": lambda topics: topics.find(["views", "users"]),
    "options": lambda topics: topics.options(["views"]),
    "create": lambda topics: topics.create("views", 1, StreamOptions()),
}


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_where_nobody_listens_the_address_and_the_reason_are_said(
    monkeypatch: pytest.MonkeyPatch, question: Callable[[Topics], object]
) -> None:
    monkeypatch.setattr(cluster_admin, "CONNECT_SECONDS", 0.2)
    broker = f"127.0.0.1:{free_port()}"
    expected = f": no broker can be reached; the last try: {broker}: Connection refused$"
    with pytest.raises(UnavailableError, match=expected):
        question(Topics(ClusterAdmin(broker)))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            "127.0.0.1:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused "
            "(after 0ms in state CONNECT, 1 identical error(s) suppressed)",
            "127.0.0.1:9: Connection refused",
        ),
        (
            "sasl_ssl://a:9093/bootstrap: Failed to resolve 'a:9093': Name or service not known "
            "(after 3ms in state CONNECT)",
            "a:9093: Failed to resolve 'a:9093': Name or service not known",
        ),
        (
            "b-1:9092/1: Disconnected: verify that security.protocol is correctly configured, "
            "broker might require SASL authentication (after 5ms in state UP)",
            "b-1:9092: Disconnected: verify that security.protocol is correctly configured, "
            "broker might require SASL authentication",
        ),
        ("1/1 brokers are down", "1/1 brokers are down"),
    ],
    ids=["refused", "not resolved", "disconnected", "another form"],
)
def test_a_failed_connection_is_told_by_its_broker_and_its_reason(told: str, said: str) -> None:
    assert connection_failure(told) == said
