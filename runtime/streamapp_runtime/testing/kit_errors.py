"""The errors of a test's own use of the kit, and of an app under test that fails."""

from streamapp.spec.problem import ReadableError


class WrongUseError(ReadableError, ValueError):
    """The kit was used wrongly; the message says what is there, and the nearest name."""


class UnfitRowError(WrongUseError):
    """A row does not fit the columns of its stream."""

    def __init__(self, number: int, fault: str) -> None:
        """The row's place among those that were given, and what does not fit."""
        super().__init__(f"row {number}: {fault}")
        self.number, self.fault = number, fault


class AppFailedError(ReadableError, AssertionError):
    """The app under test has failed as it would in production: with the same message."""
