"""An answer that could not be given."""

from dataclasses import dataclass

from streamapp.spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no answer, and what would mend it."""

    reason: Reason
    message: str
    hint: str

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}"
