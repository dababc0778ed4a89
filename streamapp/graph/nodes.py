"""The graph's values: operators, streams and tables, free of the form in which an app was written."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.spec.resource.operator_kinds import OPERATOR_TRAITS, OperatorKind, OperatorTraits, StreamUse

_INPUTS = frozenset(kind for kind, traits in OPERATOR_TRAITS.items() if traits.stream is StreamUse.READS)
_CUTTING = frozenset(kind for kind, traits in OPERATOR_TRAITS.items() if traits.makes_stream)
"""What planning asks of every operator many times, made of the table once."""


@dataclass(frozen=True, slots=True)
class OperatorNode:
    """One vertex. `stream` is what an input reads or a partitionBy, broadcast or sendTo writes."""

    name: str
    kind: OperatorKind
    inputs: tuple[str, ...] = ()
    stream: str | None = None
    tables: tuple[str, ...] = ()  # read and written by process; read by joinTable; written by sendToTable
    partitions: int | None = None  # what a partitionBy asks for

    @property
    def traits(self) -> OperatorTraits:
        """The traits of the operator's kind."""
        return OPERATOR_TRAITS[self.kind]

    @property
    def is_input(self) -> bool:
        """True if the operator stands for a stream that the app reads."""
        return self.kind in _INPUTS

    @property
    def cuts(self) -> bool:
        """True if what follows reads a stream that this operator writes, instead of its rows directly."""
        return self.kind in _CUTTING


@dataclass(frozen=True, slots=True)
class StreamNode:
    """A stream that exists outside the app: an input, an output or a side input."""

    name: str
    system: str = ""
    partitions: int | None = None  # None where it is unknown
    broadcast: bool = False  # whole stream to every task
    counted_by: str = ""  # what the count comes from, if not from its system


@dataclass(frozen=True, slots=True)
class TableNode:
    """A table; a remote one has no partitions of its own, a broadcast one is whole everywhere."""

    name: str
    remote: bool = False
    broadcast: bool = False
    side_inputs: tuple[str, ...] = ()

    @property
    def partitioned(self) -> bool:
        """True if each task holds a part of the table, so that what reaches it has to agree on partitions."""
        return not (self.remote or self.broadcast)


@dataclass(frozen=True, slots=True)
class Graph:
    """All of an app that planning needs. Order of declaration is kept for display and means nothing."""

    operators: Mapping[str, OperatorNode]
    streams: Mapping[str, StreamNode]
    tables: Mapping[str, TableNode]
