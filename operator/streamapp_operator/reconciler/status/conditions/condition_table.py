"""A condition as a table: the first row that fits has its status, reason and message."""

from collections.abc import Callable
from dataclasses import dataclass

from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.status.app_condition import AppCondition, ConditionStatus, ConditionType

Text = str | Callable[[Findings], str]


def always(_: Findings) -> bool:
    """True: the last row of each table fits whatever the findings are."""
    return True


def newest_generation(findings: Findings) -> int:
    """The newest generation of the resource, which most conditions are about."""
    return findings.facts.app.newest.generation


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One case of a condition; `when` may be the message itself, empty where the row does not fit."""

    when: Callable[[Findings], bool | str]
    status: ConditionStatus
    reason: Text
    message: Text


@dataclass(frozen=True, slots=True)
class ConditionTable:
    """The cases of a condition in order; the last one fits always."""

    type: ConditionType
    rows: tuple[ConditionRow, ...]
    generation: Callable[[Findings], int] = newest_generation

    def __post_init__(self) -> None:
        """Raise a ValueError where findings might fit no row, or a row is never reached."""
        if [row.when is always for row in self.rows] != [*[False] * (len(self.rows) - 1), True]:
            raise ValueError(f"{self.type}: the last row, and no other, fits always")

    def condition(self, findings: Findings) -> AppCondition:
        """The condition by the first row that fits."""
        row = next(row for row in self.rows if row.when(findings))
        reason, message = _text(row.reason, findings), _text(row.message, findings)
        return AppCondition(self.type, row.status, reason, message, self.generation(findings))


def _text(text: Text, findings: Findings) -> str:
    return text if isinstance(text, str) else text(findings)
