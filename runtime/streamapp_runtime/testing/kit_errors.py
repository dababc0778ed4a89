"""What is wrong with a test's own use of the kit, and how an app under test fails."""


class WrongUseError(ValueError):
    """The kit was used wrongly; the message says what is there, and the nearest name."""


class AppFailedError(AssertionError):
    """The app under test has failed as it would in production: with the same message."""
