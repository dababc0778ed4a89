"""Fields that the resource has for what no version can do yet: refused when set, never ignored."""

from collections.abc import Iterator

from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp


def not_supported(app: StreamApp) -> Iterator[Problem]:
    """The refusal of each such field, at its path."""
    if app.spec.placement.standbys:
        message = "each task has one copy of its state; leave it out"
        yield _not_yet("spec.placement.standbys", message)


def _not_yet(path: str, message: str) -> Problem:
    return Problem(0, 0, path, f"not yet supported: {message}", Reason.NOT_YET_SUPPORTED)
