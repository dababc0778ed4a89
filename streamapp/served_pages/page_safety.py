"""Which requests a live page answers on this machine's loopback, and the headers of all its answers.

A server on loopback has no login. So that no page of another host reads it by a name that it had resolved to
this machine, the `Host` of a request has to be this machine's own.
"""

from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

OWN_HOSTS: Final = frozenset({"127.0.0.1", "localhost", "::1"})
SAFETY_HEADERS: Final = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
CONTENT_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
PAGE_HEADERS: Final = (("Content-Security-Policy", CONTENT_POLICY), *SAFETY_HEADERS)
FOREIGN_HOST: Final = "ask for it as 127.0.0.1 or localhost\n"
"""The answer to a request for another host."""


def is_own_host(host: str) -> bool:
    """Whether a `Host` header names this machine."""
    with suppress(ValueError):  # of brackets that do not match
        return urlsplit(f"//{host}").hostname in OWN_HOSTS
    return False
