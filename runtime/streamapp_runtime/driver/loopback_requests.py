"""Which requests a server on this machine's loopback answers: those that read, and name this machine."""

from typing import TYPE_CHECKING

from streamapp.served_pages.page_safety import FOREIGN_HOST, is_own_host

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


def refusal_of(environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
    """The status and the text of a request that gets nothing; None where it may have what it asks for."""
    if refusal := method_refusal(environ):
        return refusal
    if not is_own_host(environ.get("HTTP_HOST", "")):
        return "403 Forbidden", FOREIGN_HOST.encode()
    return None


def method_refusal(environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
    """The same of a request that would write something."""
    return None if environ["REQUEST_METHOD"] == "GET" else ("405 Method Not Allowed", b"only GET\n")
