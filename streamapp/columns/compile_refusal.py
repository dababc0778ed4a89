"""The error that is raised where something cannot be compiled, and becomes a problem with its path."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason


class CompileRefusedError(Exception):
    """One thing that is wrong; `field` is its place below the operator, such as `where`."""

    def __init__(self, message: str, field: str = "", reason: Reason = Reason.INVALID_SPEC) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.reason = reason

    def at(self, path: str) -> Problem:
        """The problem, for an operator that stands at this path."""
        return Problem(0, 0, f"{path}.{self.field}" if self.field else path, self.message, self.reason)


@contextmanager
def refusals_within(name: str) -> Iterator[None]:
    """Refusals raised inside are about this field, or something below it."""
    try:
        yield
    except CompileRefusedError as refused:
        place = f"{name}.{refused.field}" if refused.field else name
        raise CompileRefusedError(refused.message, place, refused.reason) from None
