"""An app while it is made: its parts so far, and what is known of the rows that operators may read."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.oracle.cases.schema_texts import SchemaVersion

KEY_COLUMN: Final = "k"
Part = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Flow:
    """Rows that an operator may read: what is known of them."""

    name: str
    columns: Mapping[str, str]
    key: str | None  # the column that is the rows' key
    placed_by: str | None  # the column by which equal keys are in one task
    timed: bool
    sources: frozenset[str]
    settled: bool = True  # whether each row is final, however batches were cut
    hops: int = 0
    copies: bool = False  # whether each task has all rows
    ordered: bool = True  # whether rows of a key come in the order of their records
    partitioner: str = "murmur2"  # the hash by which their keys are in partitions

    @property
    def is_sequence_by_key(self) -> bool:
        """True if one task has all rows of a key, each final, in the order of their records."""
        is_keyed = self.placed_by is not None and self.key == self.placed_by
        return self.settled and is_keyed and not self.copies and self.ordered


@dataclass(slots=True)
class AppDraft:
    """An app while it is made."""

    chance: random.Random
    partitions: int
    whole_sends: bool
    is_batch: bool
    key_type: str
    has_registry: bool
    streams: list[Part] = field(default_factory=list)
    tables: list[Part] = field(default_factory=list)
    operators: list[Part] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    edits: list[Part] = field(default_factory=list)  # operators as later edits have them
    schemas: dict[str, list[SchemaVersion]] = field(default_factory=dict)  # by stream, of registered ones
    key_schemas: dict[str, str] = field(default_factory=dict)  # by stream, of registered keys
    schema_ids: dict[str, int] = field(default_factory=dict)  # by text, of schemas that are named by their id
    filled: dict[str, Flow] = field(default_factory=dict)  # tables that the app fills, and from what

    def name(self, kind: str) -> str:
        """The name of the next operator of a kind."""
        return f"{kind}{len(self.operators)}"

    def add(self, kind: str, body: Part, flow: Flow | None) -> None:
        """An operator, and the rows that it hands on."""
        name = flow.name if flow else self.name(kind)
        self.operators.append({"name": name, kind: {k: v for k, v in body.items() if v is not None}})
        if flow:
            self.flows.append(flow)

    def pick(self, fits: Callable[[Flow], bool] = lambda _: True) -> Flow | None:
        """One of the flows that fit, rather a later one."""
        fitting = [flow for flow in self.flows if fits(flow)]
        return (
            self.chance.choice(fitting[-4:] if self.chance.random() < 0.7 else fitting) if fitting else None
        )

    def draw_span(self) -> str:
        return self.chance.choice(("1s", "1500ms", "3s", "5s", "10s", "1m"))
