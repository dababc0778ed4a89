"""Requests to a schema registry, and what its answers and its silence mean.

Silence, an overloaded server and an answer that is none of a registry are an outage: what waits for it may go
on later. A refusal of who asks is for somebody to mend. Only a registry's own word that something is not
there says anything of what was asked for.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, Final, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import OpenerDirector, Request

from streamapp_runtime.http_client import direct_opener, is_outage_status
from streamapp_runtime.systems.kafka.wire.client_settings import tls_context
from streamapp_runtime.systems.stream_system import DeniedError, InvalidSettingsError, UnavailableError

T = TypeVar("T")

_LARGEST_ANSWER: Final = 16 << 20
_LONGEST_REFUSAL: Final = 300
_CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_NOT_FOUND: Final = range(40401, 40500)
"""The codes of a registry for a subject, a version or a schema that is not there."""
_DENIED: Final = (401, 403, 407)
_UNFIT: Final = (409, 422)
"""For schemas that are not compatible or not valid."""


class NotRegisteredError(Exception):
    """The registry says that what was asked for is not there."""


class UnfitRequestError(Exception):
    """The registry does not take what it was sent; the message has its words."""


@dataclass(slots=True)
class RegistryRequests:
    """A registry at one or several URLs; the one that answered last is asked first."""

    urls: tuple[str, ...]
    timeout: float  # seconds
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)  # without their prefix
    _opener: OpenerDirector = field(init=False, repr=False)
    _headers: Mapping[str, str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tls: Mapping[str, str] = {n: value for n, value in self.settings.items() if n.startswith("ssl.")}
        self._opener = direct_opener(tls_context(tls))
        self._headers = {"Accept": f"{_CONTENT_TYPE}, application/json", **_login(self.settings)}

    def get(self, path: str) -> dict[str, Any]:
        """The answer to a request; NotRegisteredError, DeniedError, or UnavailableError of all URLs."""
        return self._asked("GET", path, None, dict)

    def get_list(self, path: str) -> list[Any]:
        """The same where the answer is a list."""
        return self._asked("GET", path, None, list)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request with a body; besides, an UnfitRequestError with the registry's words."""
        return self._asked("POST", path, json.dumps(body).encode(), dict)

    def _asked(self, method: str, path: str, body: bytes | None, form: type[T]) -> T:
        silent: list[str] = []
        for url in self.urls:
            try:
                answer = self._answer(url, method, path, body, form)
            except _SilentError as error:
                silent.append(f"{url}: {error}")
                continue
            self.urls = (url, *(other for other in self.urls if other != url))
            return answer
        raise UnavailableError(f"the schema registry cannot be asked: {'; '.join(silent)}")

    def _answer(self, url: str, method: str, path: str, body: bytes | None, form: type[T]) -> T:
        try:
            headers = {**self._headers, "Content-Type": _CONTENT_TYPE}
            request = Request(f"{url}{path}", body, headers, method=method)  # noqa: S310
            with self._opener.open(request, timeout=self.timeout) as response:
                answer = json.loads(response.read(_LARGEST_ANSWER))
        except HTTPError as error:
            raise _refusal(url, f"{method} {path}", error) from None
        except URLError as error:
            raise _SilentError(getattr(error.reason, "strerror", None) or error.reason) from None
        except (OSError, HTTPException) as error:
            raise _SilentError(str(error) or type(error).__name__) from None
        except ValueError:
            raise _SilentError(f"its answer to {method} {path} is no JSON") from None
        if not isinstance(answer, form):
            raise _SilentError(f"its answer to {method} {path} is none of a schema registry")
        return answer


class _SilentError(Exception):
    """One URL gives no answer that says anything."""


def _refusal(url: str, asked: str, error: HTTPError) -> Exception:
    """The exception for an answer that is an error, by the registry's code where it has one."""
    try:
        refusal = json.loads(error.read(_LARGEST_ANSWER))
        code, words = int(refusal["error_code"]), str(refusal.get("message", ""))[:_LONGEST_REFUSAL]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        code, words = error.code, str(error.reason)
    message = f"{asked}: {error.code} {words}"
    if code in _NOT_FOUND:
        return NotRegisteredError(words)
    if error.code in _DENIED:
        return DeniedError(f"the schema registry at {url} refuses the app: {message}; look at configSecret")
    if error.code == 404:
        return DeniedError(
            f"{url} has no such request as a schema registry: {message}; look at its URL and release"
        )
    if is_outage_status(error.code):
        return _SilentError(message)
    if error.code in _UNFIT and asked.startswith("POST "):
        return UnfitRequestError(words)
    return DeniedError(f"the schema registry at {url} does not take the request: {message}")


def _login(settings: Mapping[str, str]) -> dict[str, str]:
    user, token = settings.get("basic.auth.user.info"), settings.get("bearer.auth.token")
    if user and token:
        raise InvalidSettingsError("schema.registry: say basic.auth.user.info or bearer.auth.token, not both")
    if user:
        if ":" not in user:
            raise InvalidSettingsError("schema.registry.basic.auth.user.info: write user:password")
        return {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}
    return {"Authorization": f"Bearer {token}"} if token else {}
