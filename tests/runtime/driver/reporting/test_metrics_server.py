"""Who is answered at the port of metrics: everybody who asks, beside whoever holds connections open."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from threading import active_count
from urllib.parse import urlsplit

import pytest

from streamapp_runtime.driver.reporting import metrics_server as served
from streamapp_runtime.driver.reporting.metric_values import RunMetrics
from tests.harness.machine.processes import until

pytestmark = pytest.mark.usefixtures("process")
SECONDS = 10.0


@contextmanager
def serving(host: str) -> Iterator[int]:
    """The port of a server that lives."""
    server = served.metrics_server(RunMetrics().registry, 0, host, liveness=lambda: (True, "runs batches"))
    with served.serve_metrics(server) as url:
        yield urlsplit(url).port or 0


def asked(port: int, path: str, **headers: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request(
            "GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("host", [served.LOOPBACK, served.EVERYWHERE])
def test_a_kubelet_is_answered_beside_hundreds_of_connections_that_ask_for_nothing(host: str) -> None:
    before = active_count()
    with serving(host) as port, ExitStack() as strangers:
        for number in range(300):
            stranger = strangers.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))
            stranger.sendall(b"GET / HTTP/1.1\r\n" * (number % 2))
        assert asked(port, "/?livez") == 200
        until(lambda: active_count() - before <= served.MOST_CONNECTIONS + 1, limit=SECONDS)


def test_who_does_not_say_in_time_what_it_wants_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "REQUEST_SECONDS", 0.2)
    with serving(served.LOOPBACK) as port, socket.create_connection(("127.0.0.1", port), SECONDS) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert stranger.recv(1) == b""
        assert asked(port, "/?livez") == 200


@pytest.mark.parametrize("path", ["/", "/metrics", "/?livez"])
def test_a_loopback_answers_no_other_host_and_no_page_of_another_site(path: str) -> None:
    with serving(served.LOOPBACK) as port:
        assert asked(port, path, Host="evil.example") == 403
        for site in ("cross-site", "same-site", "new-word"):
            assert asked(port, path, Sec_Fetch_Site=site) == 403
        for site in ("same-origin", "none"):
            assert asked(port, path, Sec_Fetch_Site=site) == 200


def test_a_port_for_a_scraper_goes_by_whatever_name_it_has() -> None:
    with serving(served.EVERYWHERE) as port:
        assert asked(port, "/metrics", Host="driver.shop.svc:9404") == 200
