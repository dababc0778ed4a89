"""The requests that a server on this machine's loopback answers: those that read, and name this machine."""

from typing import TYPE_CHECKING

from streamapp.served_pages.page_safety import FETCH_SITE, loopback_refusal

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


def refusal_of(environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
    """The status and the text of a request that gets nothing; None where it may have what it asks for."""
    return method_refusal(environ) or foreign_refusal(environ)


def foreign_refusal(environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
    """The same of a request for another host, or of a page of another site."""
    fetch_site = environ.get(f"HTTP_{FETCH_SITE.upper().replace('-', '_')}", "")
    refusal = loopback_refusal(environ.get("HTTP_HOST", ""), fetch_site)
    return ("403 Forbidden", refusal.encode()) if refusal else None


def method_refusal(environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
    """The same of a request that would write something."""
    return None if environ["REQUEST_METHOD"] == "GET" else ("405 Method Not Allowed", b"only GET\n")
