"""The refusal of stored bytes that are damaged, or written by a later program."""

from streamapp.spec.reasons import Reason


class UnreadableError(ValueError):
    """Stored bytes were refused: for what reason, what was found, and what would fix it."""

    def __init__(self, reason: Reason, message: str, hint: str = "") -> None:
        self.reason = reason
        self.message = message
        self.hint = hint
        super().__init__(f"{message}; {hint}" if hint else message)


class ModelUnreadableError(UnreadableError):
    """A job model, in either form, could not be read."""
