"""TestApp, as tests import it: the engine is loaded with the first app, not with the module."""

from importlib import import_module
from typing import Any, Final

_ENGINE: Final = "streamapp_runtime.testing.in_process_app"
"""The module of the class that extends this one."""


class TestApp:
    """An app inside the test's own process, without a JVM, a broker or waiting.

    Each call returns once the app has done all that follows from it. Times are the test's own: the clock
    stands still between calls. Use it in a `with` block, or call `close`.

    >>> with TestApp("app.yaml") as app:  # doctest: +SKIP
    ...     app.send("users", {"user": "ann", "country": "NO"})
    ...     app.send("views", {"user": "ann", "page": "/"}, at="2026-01-01T12:00")
    ...     assert app.rows("enriched") == [{"user": "ann", "page": "/", "country": "NO"}]
    """

    __test__ = False  # a class of this name is no test

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """An `InProcessApp`, which says what it takes and does."""
        return object.__new__(import_module(_ENGINE).InProcessApp)
