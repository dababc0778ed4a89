"""A table behind an HTTP service that is asked for many keys at once.

    remote:
      python: streamapp_runtime.remote.http:HttpTable
      options: {url: "https://prices/many", tokenVariable: PRICES_TOKEN, headers: {X-Tenant: shop}}

    POST /many                  {"keys": ["a17", "b2"]}
    200 OK                      {"a17": {"price": 1.5, "currency": "EUR"}}

A key that is not in the answer, or is null there, has no row. What a row has to be like is what the json
format of streams says. Silence, 408, 429, 500 and above are an outage; any other status is an error.
"""

import json
import re
import ssl
from collections.abc import Iterator
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import OpenerDirector, Request

import pyarrow as pa

from streamapp.spec.problem import short
from streamapp_runtime.http_client import direct_opener, is_outage_status
from streamapp_runtime.remote.keyed_values import JsonRows, text_keys
from streamapp_runtime.remote.remote_class import RemoteConfig
from streamapp_runtime.remote.table_options import named_secret, table_options, url_without_password

LARGEST_ANSWER: Final = 64 << 20
_DEFAULTS: Final[dict[str, Any]] = {"tokenVariable": "", "headers": {}, "caFile": ""}
_SECRET_HEADERS: Final = {"authorization", "cookie", "proxy-authorization"}
_JSON: Final = {"Content-Type": "application/json", "Accept": "application/json"}
_LONGEST_REFUSAL: Final = 300
_SPACE: Final = r"[ \t\r\n]*"
_OPENED, _COLON, _NEXT = (re.compile(f"{_SPACE}({sign}){_SPACE}") for sign in (r"\{", ":", "[,}]"))


class HttpTable:
    """Asks an HTTP service for rows."""

    def __init__(self) -> None:
        self._opener: OpenerDirector | None = None

    def check(self, config: RemoteConfig) -> None:
        """Refuse options that there are not, and secrets that would stand in the resource."""
        options = table_options(config, _DEFAULTS, "url")
        parts = url_without_password(options["url"], "tokenVariable")
        is_address = parts.hostname and not parts.username and parts.port != 0 and " " not in options["url"]
        if parts.scheme not in {"http", "https"} or not is_address:
            raise ValueError('option "url" is none of a service; write https://host/path')
        for name in options["headers"]:
            if name.lower() in _SECRET_HEADERS:
                raise ValueError(
                    f'option "headers": "{name}" is a secret; name its variable in tokenVariable'
                )
        _token(options)
        _tls(options["caFile"])

    def open(self, config: RemoteConfig) -> None:
        """Make a client, which connects for each call."""
        options = table_options(config, _DEFAULTS, "url")
        self._token, self._timeout = _token(options), config.timeout_seconds
        login = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        self._headers = {**options["headers"], **_JSON, **login}
        self._url, self._json_rows = options["url"], JsonRows(config)
        parts = url_without_password(self._url, "tokenVariable")
        self._name = f"{parts.scheme}://{parts.netloc}{parts.path}"  # a query may have a secret
        self._opener = direct_opener(_tls(options["caFile"]) if parts.scheme == "https" else None)

    def get_many(self, keys: pa.BinaryArray) -> pa.RecordBatch:
        """The rows of the keys that the service has."""
        body = json.dumps({"keys": text_keys(keys).drop_null().to_pylist()}).encode()
        try:
            members = [(name, value) for name, value in _members(self._answer(body)) if value != "null"]
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"{self._name} answers with no JSON object: {error}") from None
        names = pa.array([name.encode() for name, _ in members], pa.binary())
        return self._json_rows.rows(names, pa.array([value.encode() for _, value in members], pa.binary()))

    def _answer(self, body: bytes) -> str:
        """The body of an answer; OSError where the service cannot give one now."""
        if self._opener is None:
            raise RuntimeError("open comes before get_many")
        try:
            request = Request(self._url, body, self._headers, method="POST")  # noqa: S310
            with self._opener.open(request, timeout=self._timeout) as response:
                answer: bytes = response.read(LARGEST_ANSWER + 1)
                is_cut = bool(response.length)
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except URLError as error:
            raise ConnectionError(f"{self._name}: {error.reason}") from None
        except (OSError, HTTPException) as error:
            raise ConnectionError(f"{self._name}: {str(error) or type(error).__name__}") from None
        if len(answer) > LARGEST_ANSWER:
            raise ValueError(
                f"{self._name} answers with more than {LARGEST_ANSWER:,} bytes; lower batch.rows"
            )
        if is_cut:
            raise ConnectionError(f"{self._name}: the answer ended early")
        return answer.decode()

    def _refusal(self, error: HTTPError) -> Exception:
        message = f"{self._name} answers {error.code} {error.reason}"
        if is_outage_status(error.code):
            return ConnectionError(message)
        if error.code < 400:
            return ValueError(f"{message}: a redirect is not followed; name its target in url")
        try:
            words = error.read(LARGEST_ANSWER).decode(errors="replace")
        except (OSError, HTTPException):
            return ConnectionError(message)
        shown = words.replace(self._token, "***") if self._token else words
        return ValueError(f"{message}: {short(' '.join(shown.split()), _LONGEST_REFUSAL)}")


def _members(text: str) -> Iterator[tuple[str, str]]:
    """The names of an object and the texts of their values, in which numbers keep all digits."""
    decode = json.JSONDecoder().raw_decode
    _, at = _sign(_OPENED, text, 0)
    sign = "}" if text.startswith("}", at) else ","
    at += sign == "}"
    while sign == ",":
        name, at = decode(text, at)
        if not isinstance(name, str):
            raise json.JSONDecodeError("Expecting a name", text, at)
        _, begin = _sign(_COLON, text, at)
        _, end = decode(text, begin)
        yield name, text[begin:end]
        sign, at = _sign(_NEXT, text, end)
    if text[at:].strip():
        raise json.JSONDecodeError("Extra data", text, at)


def _sign(pattern: re.Pattern[str], text: str, at: int) -> tuple[str, int]:
    """The sign that comes next, and the place behind it."""
    match = pattern.match(text, at)
    if match is None:
        raise json.JSONDecodeError("Expecting an object", text, at)
    return match[1], match.end()


def _token(options: dict[str, Any]) -> str:
    token = named_secret(options, "tokenVariable")
    if not token.isascii() or not token.isprintable():  # it would stand in the client's message
        raise ValueError('option "tokenVariable": the value is no token; take line breaks out of it')
    return token


def _tls(ca_file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ValueError) as error:
        raise ValueError(f'option "caFile": no certificates are in {ca_file}: {error}') from None
