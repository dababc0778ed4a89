"""Which requests a server on this machine's loopback answers, and the headers of its answers.

A server on loopback has no login. So that no page of another host reads it by a name that it had resolved to
this machine, the `Host` of a request has to be this machine's own.
"""

from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

OWN_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SAFETY_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)


def refusal_of(environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
    """The status and the text of a request that gets nothing; None where it may have what it asks for."""
    if refusal := method_refusal(environ):
        return refusal
    if not _is_own_host(environ.get("HTTP_HOST", "")):
        return "403 Forbidden", b"ask for it as 127.0.0.1 or localhost\n"
    return None


def method_refusal(environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
    """The same of a request that would write something."""
    return None if environ["REQUEST_METHOD"] == "GET" else ("405 Method Not Allowed", b"only GET\n")


def _is_own_host(host: str) -> bool:
    with suppress(ValueError):  # of brackets that do not match
        return urlsplit(f"//{host}").hostname in OWN_HOSTS
    return False
