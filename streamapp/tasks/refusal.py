"""The answer "no": why tasks cannot be formed as asked, as a value."""

from dataclasses import dataclass

from streamapp.spec.reasons import Reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something was refused, what it is about, and what would fix it. The model in force stays."""

    reason: Reason
    path: str  # the stream, partition, task or setting that it is about
    message: str
    hint: str = ""

    def __str__(self) -> str:
        words = f"{self.path}: {self.message}" if self.path else self.message
        return f"{words}; {self.hint}" if self.hint else words
