"""Tokens of OAuth 2.0: of a client with an identity of its own (RFC 6749), or of a function of the app's."""

import base64
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request

from streamapp_runtime.http_client import direct_opener, is_outage_status
from streamapp_runtime.named_python import named_python
from streamapp_runtime.systems.kafka.wire.requests.sasl_login import LoginRefusedError

_ANSWER_SECONDS = 10.0
_LARGEST_ANSWER = 1 << 20
_LONGEST_REFUSAL = 300
_USABLE_SHARE = 0.8
"""The share of its time after which a token is replaced."""
_UNBOUNDED_SECONDS = 60.0
"""How long a token is used whose answer does not say how long it is good."""


GivenToken = tuple[str, float]
"""A token, and for how many seconds it is good."""


class TokenFunctionError(LoginRefusedError):
    """A function of the app's own that gives no token. Its words are left out: they may hold a secret."""

    mend = "call it in a pod of the app to see why"


@dataclass(slots=True)
class TokenSource:
    """The token of one client, asked for again in time; any thread may ask."""

    fetch: Callable[[], GivenToken] = field(repr=False)
    _token: str = field(init=False, default="", repr=False)
    _usable_until: float = field(init=False, default=0.0)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock, repr=False)

    def token(self) -> str:
        """A token that is good; LoginRefusedError where none is given out, OSError where nobody answers."""
        with self._lock:
            if time.monotonic() > self._usable_until:
                self._token, seconds = self.fetch()
                self._usable_until = time.monotonic() + _USABLE_SHARE * seconds
            return self._token


@dataclass(frozen=True, slots=True)
class ClientCredentials:
    """A client, and the endpoint that gives it tokens."""

    endpoint: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str = ""

    def fetch(self) -> GivenToken:
        """A new token."""
        try:
            with direct_opener().open(self._request(), timeout=_ANSWER_SECONDS) as response:
                fields = json.loads(response.read(_LARGEST_ANSWER))
            token, seconds = fields["access_token"], float(fields.get("expires_in", _UNBOUNDED_SECONDS))
        except HTTPError as error:
            if is_outage_status(error.code):
                raise OSError(f"{self.endpoint}: {error.code} {error.reason}") from None
            raise LoginRefusedError(
                f'{self.endpoint} gives "{self.client_id}" no token: {_refusal(error)}'
            ) from None
        except URLError as error:
            raise OSError(f"{self.endpoint}: {error.reason}") from None
        except OSError as error:
            raise OSError(f"{self.endpoint}: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise LoginRefusedError(f"{self.endpoint} answers without an access_token") from None
        if not _is_token(token):
            raise LoginRefusedError(f"{self.endpoint} answers with an access_token that is none")
        return token, seconds

    def _request(self) -> Request:
        identity = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode()).decode()
        form = {"grant_type": "client_credentials"} | ({"scope": self.scope} if self.scope else {})
        headers = {"Authorization": f"Basic {identity}", "Accept": "application/json"}
        return Request(self.endpoint, urlencode(form).encode(), headers)  # noqa: S310


@dataclass(frozen=True, slots=True)
class TokenFunction:
    """A function of the app's own, as `package.module:function`.

    It gives a token and when that ends, in seconds since the epoch, as a function for librdkafka does. An
    OSError of it is an outage.
    """

    python: str

    def fetch(self) -> GivenToken:
        """A new token."""
        token, expiry = self.given()
        return token, expiry - time.time()

    def given(self) -> tuple[str, float]:
        """The pair that the function gives, checked."""
        try:
            token, expiry = named_python(self.python)()
            is_good = _is_token(token) and float(expiry) > time.time()
        except OSError as error:
            raise OSError(f"the token function {self.python} failed: {type(error).__name__}") from None
        except (Exception, SystemExit) as error:
            raise TokenFunctionError(
                f"the token function {self.python} failed: {type(error).__name__}"
            ) from None
        if not is_good:
            raise TokenFunctionError(f"the token function {self.python} gives no token that is still good")
        return token, float(expiry)


def _is_token(token: object) -> bool:
    return isinstance(token, str) and bool(token) and token.isascii() and token.isprintable()


def _refusal(error: HTTPError) -> str:
    """The words of a refusal: those that the standard has a field for, else those of HTTP."""
    try:
        fields = json.loads(error.read(_LARGEST_ANSWER))
        texts = [str(fields[name]) for name in ("error", "error_description") if fields.get(name)]
    except (OSError, ValueError, TypeError, AttributeError):
        texts = []
    return ": ".join(texts)[:_LONGEST_REFUSAL] or f"{error.code} {error.reason}"
