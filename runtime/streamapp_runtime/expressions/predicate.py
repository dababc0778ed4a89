"""Conditions that a Python worker can judge for whole columns at once, exactly as Spark would.

Only what means the same to Spark and to Arrow has a place here: comparisons of texts by their bytes, of whole
numbers and of booleans, tests of how a text begins, ends or what it contains, and three-valued logic.
"""

from dataclasses import dataclass

ConstantValue = str | int | bool


@dataclass(frozen=True, slots=True)
class ColumnValue:
    """The column at a position."""

    position: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is not null."""

    value: ConstantValue


@dataclass(frozen=True, slots=True)
class Comparison:
    """`=`, `<`, `<=`, `>` or `>=` of two values of one kind; null where one of them is."""

    sign: str
    left: "Predicate"
    right: "Predicate"


@dataclass(frozen=True, slots=True)
class TextTest:
    """Whether a text `starts` with, `ends` with, or `contains` another."""

    test: str
    of: "Predicate"
    text: str


@dataclass(frozen=True, slots=True)
class InList:
    """Whether a value is one of several; null where it is null."""

    of: "Predicate"
    values: tuple[ConstantValue, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether there is no value; never null itself."""

    of: "Predicate"


@dataclass(frozen=True, slots=True)
class And:
    """AND: false where one side is false, whatever the other is."""

    left: "Predicate"
    right: "Predicate"


@dataclass(frozen=True, slots=True)
class Or:
    """OR: true where one side is true, whatever the other is."""

    left: "Predicate"
    right: "Predicate"


@dataclass(frozen=True, slots=True)
class Not:
    """NOT: null where its value is null."""

    of: "Predicate"


Predicate = ColumnValue | Constant | Comparison | TextTest | InList | IsNull | And | Or | Not


def like_test(of: Predicate, pattern: str, escape: str) -> Predicate | None:
    """LIKE with a pattern that says how a text begins, ends, what it contains, or all of it; else None."""
    bare = pattern.strip("%")
    if any(special in bare for special in ("%", "_", "\\", escape)) or escape in "%_":
        return None
    before, after = pattern.startswith("%"), pattern.endswith("%")
    if not before and not after:
        return Comparison("=", of, Constant(bare))
    return TextTest("contains" if before and after else "ends" if before else "starts", of, bare)
