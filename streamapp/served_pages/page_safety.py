"""The requests that a live page answers on this machine's loopback, and the headers of all its answers.

A server on loopback has no login. So that no page of another host reads it by a name that it had resolved to
this machine, the `Host` of a request has to be this machine's own. Nor may a page of another site ask for it,
which browsers say of each request.
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
FETCH_SITE: Final = "Sec-Fetch-Site"
"""The header in which a browser says who asks: this page, its user, or a page of another site."""
_OWN_SITES: Final = frozenset({"", "none", "same-origin"})
_FOREIGN_HOST: Final = "ask for it as 127.0.0.1 or localhost\n"
_FOREIGN_SITE: Final = "not for pages of other sites; open the address itself\n"


def loopback_refusal(host: str, fetch_site: str) -> str:
    """Why a request of this `Host` and `Sec-Fetch-Site` is refused on loopback; empty where it is not."""
    if not is_own_host(host):
        return _FOREIGN_HOST
    return "" if fetch_site in _OWN_SITES else _FOREIGN_SITE


def is_own_host(host: str) -> bool:
    """True if a `Host` header names this machine."""
    with suppress(ValueError):  # of brackets that do not match
        return urlsplit(f"//{host}").hostname in OWN_HOSTS
    return False
