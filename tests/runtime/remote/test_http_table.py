"""The table behind an HTTP service, against a server of this process."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any

import pytest

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.remote import http
from streamapp_runtime.remote.remote_client import RemoteSilentError
from tests.harness.core.all_cases import all_cases
from tests.harness.engine.key_service import KeyService
from tests.harness.kafka.secured_broker import certificate
from tests.runtime.remote.remote_table_contract import RemoteTableContract, Row, asking, found, text

TOKEN = "a-token-of-the-app"  # noqa: S105
pytestmark = pytest.mark.usefixtures("loopback")


@dataclass(slots=True)
class HttpService:
    """Rows as values of JSON."""

    server: KeyService
    more: Row = field(default_factory=dict)
    python: str = "streamapp_runtime.remote.http:HttpTable"
    keeps_nulls: bool = True

    @property
    def options(self) -> Row:
        return {"url": f"{self.server.url}/many", **self.more}

    def fill(self, columns: str, table: Mapping[bytes, Row]) -> None:
        self.server.rows = {key.decode(): json.dumps(row, default=text) for key, row in table.items()}


@pytest.fixture
def service() -> Iterator[HttpService]:
    server = KeyService()
    server.start()
    yield HttpService(server)
    server.end()


@pytest.mark.usefixtures("process")  # which may wait for the server
class TestHttp(RemoteTableContract):
    pass


def answered(
    service: HttpService, body: str, status: int = 200, columns: str = "n INT", **headers: str
) -> Any:
    service.server.next_answers = [(status, body, headers)]
    with asking(service, columns) as ask:
        return found(ask, columns)


def test_keys_are_sent_with_the_headers_and_the_token(
    service: HttpService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRICES_TOKEN", TOKEN)
    service.more = {"tokenVariable": "PRICES_TOKEN", "headers": {"X-Tenant": "shop"}}
    assert answered(service, "{}") == [None, None, None]
    ((path, headers, body),) = service.server.requests
    assert (path, body) == ("/many", {"keys": ["a", "b", "c"]})
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert headers["X-Tenant"] == "shop"


def test_an_answer_is_read_as_records_are_with_all_digits(service: HttpService) -> None:
    body = '\n{ "c" :null, "a":{"n": 12345678901234567890.123456789 , "x": [{"}": "\\""}]}\r\n}  '
    assert answered(service, body, columns="n DECIMAL(38,9)") == [
        {"n": Decimal("12345678901234567890.123456789")},
        None,
        None,
    ]


def test_an_answer_that_is_none_is_refused() -> None:
    cases = {
        "": "Expecting an object",
        "[]": "Expecting an object",
        '{"a": {"n": 1}': "Expecting an object",
        '{"a": {"n": 1},}': "answers with no JSON object",
        '{"a": {"n": 1}} {}': "Extra data",
        '{"a" {"n": 1}}': "Expecting an object",
        "{1: {}}": "Expecting a name",
        '{"a": {"n": "1"}}': "the value of key b'a': n",
        '{"a": {"n": 1, "n": 2}}': "the value of key b'a': ",
        '{"a": 1}': "the value of key b'a': no JSON object: 1",
        '{"z": {"n": 1}}': "for a key that was not asked for",
        '{"a": {"n": 1}, "a": {"n": 2}}': "for a key twice",
    }
    server = KeyService()
    server.start()
    with all_cases() as case:
        for body, why in cases.items():
            with case(body), pytest.raises(UserCodeError, match=why):
                answered(HttpService(server), body)
    server.end()


def test_a_server_that_cannot_answer_now_is_unavailable() -> None:
    server = KeyService()
    server.start()
    with all_cases() as case:
        for status in (408, 429, 500, 502, 503, 504):
            with case(str(status)), pytest.raises(RemoteSilentError, match=f"/many answers {status} "):
                answered(HttpService(server), "later", status)
    server.end()


def test_an_answer_that_ends_early_is_an_outage(service: HttpService) -> None:
    with pytest.raises(RemoteSilentError, match="the answer ended early"):
        answered(service, '{"a": {"n": 1}}', **{"Content-Length": "100"})


def test_a_refusal_is_told_in_its_words_but_for_the_token(
    service: HttpService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRICES_TOKEN", TOKEN)
    service.more = {"tokenVariable": "PRICES_TOKEN"}
    with pytest.raises(UserCodeError, match=r"/many answers 403 Forbidden: not for \*\*\*, x+\.\.\."):
        answered(service, f"not for {TOKEN},\n{'x' * 1_000}", 403)


def test_a_redirect_is_not_followed(service: HttpService) -> None:
    with pytest.raises(UserCodeError, match="302 Found: a redirect is not followed; name its target in url"):
        answered(service, "", 302, Location=f"{service.server.url}/other")
    assert [path for path, _, _ in service.server.requests] == ["/many"]


@pytest.mark.usefixtures("process")
def test_a_certificate_is_trusted_where_its_file_is_named(tmp_path: Path) -> None:
    certificate(tmp_path, "prices")
    tls = SSLContext(PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "prices.crt", tmp_path / "prices.key")
    service = HttpService(KeyService(tls=tls))
    service.server.start()
    with pytest.raises(RemoteSilentError, match="CERTIFICATE_VERIFY_FAILED"):
        answered(service, "{}")
    service.more = {"caFile": str(tmp_path / "prices.crt")}
    assert answered(service, "{}") == [None, None, None]
    service.server.end()


def test_an_answer_is_not_read_without_a_bound(service: HttpService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_ANSWER", 10)
    assert answered(service, "{}        ") == [None, None, None]
    with pytest.raises(UserCodeError, match=r"answers with more than 10 bytes; lower batch\.rows"):
        answered(service, "{}         ")
