"""Requests by HTTP with credentials, which are for the named host alone, and the statuses of an outage."""

from ssl import SSLContext
from typing import Final
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, build_opener

_OVERLOADED: Final = (408, 429)


class _NoRedirects(HTTPRedirectHandler):
    """No redirect is followed: credentials are for the host that was named."""

    def redirect_request(self, *_: object) -> None:
        """None, which makes an error of the redirect."""


def direct_opener(tls: SSLContext | None = None) -> OpenerDirector:
    """A client that follows no redirect; without a context it trusts what the system trusts."""
    return build_opener(_NoRedirects, HTTPSHandler(context=tls))


def is_outage_status(status: int) -> bool:
    """True if a server says that it cannot answer now, and may later."""
    return status >= 500 or status in _OVERLOADED
