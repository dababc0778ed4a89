"""The wording that plans, conditions, messages and pages share."""

from collections.abc import Mapping, Sequence

from streamapp.plan.partition_plan import Role

ROLES: Mapping[Role, str] = {
    Role.INPUT: "input",
    Role.OUTPUT: "output",
    Role.INPUT_OUTPUT: "input and output",
    Role.INTERMEDIATE: "intermediate",
    Role.SIDE_INPUT: "side input",
}


def counted(count: int, one: str, many: str = "") -> str:
    """`1 stream`, `2,000 streams`; `many` where it is not the word with an `s`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def partitions(count: int | None) -> str:
    """A partition count in words."""
    return "unknown partitions" if count is None else counted(count, "partition")
