"""Changes that may fix an app, as values: what each does to the graph, and the words for it."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.spec.resource.operator_kinds import OperatorKind

_SHOWN = 12  # changes, or names, that a sentence can hold


class Imperative(NamedTuple):
    """A change in words. Those that differ in the object alone are told in one sentence."""

    verb: str
    object: str
    complement: str


@dataclass(frozen=True, slots=True)
class PartitionByInsertion:
    """A further partitionBy that reads `source`, and that the consumers read in its place."""

    source: str
    consumers: tuple[str, ...]
    rows: str  # what is repartitioned: a stream, or what an operator hands on
    again: bool = False  # whether the rows come from a partitionBy already

    @property
    def imperative(self) -> Imperative:
        """The change in words."""
        through = "with one more partitionBy" if self.again else "with partitionBy"
        return Imperative("repartition", self.rows, f" {through} before {_listed(self.consumers)}")

    def applied(self, graph: Graph) -> Graph:
        """The graph with that partitionBy."""
        name = _free_name(f"{self.source}-by-key", graph.operators)
        streams = {*graph.streams, *(operator.stream for operator in graph.operators.values())}
        insertion = OperatorNode(
            name, OperatorKind.PARTITION_BY, (self.source,), _free_name(f"{name}-stream", streams)
        )
        operators = {**graph.operators, name: insertion}
        for consumer in self.consumers:
            node = operators[consumer]
            inputs = tuple(name if read == self.source else read for read in node.inputs)
            operators[consumer] = replace(node, inputs=inputs)
        return replace(graph, operators=operators)


@dataclass(frozen=True, slots=True)
class PartitionsRequest:
    """Another value of `partitions` in the operators that make a stream; none where it is left out."""

    operators: tuple[str, ...]
    partitions: int | None

    @property
    def imperative(self) -> Imperative:
        """The change in words."""
        what = (
            "leave partitions out of" if self.partitions is None else f"set partitions: {self.partitions} on"
        )
        return Imperative(what, _listed(self.operators), "")

    def applied(self, graph: Graph) -> Graph:
        """The graph with that request."""
        nodes = {name: replace(graph.operators[name], partitions=self.partitions) for name in self.operators}
        return replace(graph, operators={**graph.operators, **nodes})


@dataclass(frozen=True, slots=True)
class StreamGrowth:
    """More partitions for a stream outside the app."""

    stream: str
    partitions: int

    @property
    def imperative(self) -> Imperative:
        """The change in words."""
        return Imperative("give", self.stream, f" {self.partitions} partitions")

    def applied(self, graph: Graph) -> Graph:
        """The graph once the stream has grown."""
        node = replace(graph.streams[self.stream], partitions=self.partitions)
        return replace(graph, streams={**graph.streams, self.stream: node})


@dataclass(frozen=True, slots=True)
class TableBroadcast:
    """Tables of side inputs whole in every task."""

    tables: tuple[str, ...]

    @property
    def imperative(self) -> Imperative:
        """The change in words."""
        several = len(self.tables) > 1
        tables = f"{'tables' if several else 'table'} {_listed(self.tables)}"
        side_inputs = "their side inputs" if several else "its side inputs"
        return Imperative("make", tables, f" broadcast, so that {side_inputs} constrain nothing")

    def applied(self, graph: Graph) -> Graph:
        """The graph with broadcast tables."""
        nodes = {name: replace(graph.tables[name], broadcast=True) for name in self.tables}
        return replace(graph, tables={**graph.tables, **nodes})


GraphChange = PartitionByInsertion | PartitionsRequest | StreamGrowth | TableBroadcast


@dataclass(frozen=True, slots=True)
class Hint:
    """Changes that fix an error when they are made together."""

    changes: tuple[GraphChange, ...]

    @property
    def sentence(self) -> str:
        """The changes as imperatives."""
        objects: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        for change in self.changes:
            words = change.imperative
            objects[words.verb, words.complement][words.object] = None
        sentences = [
            f"{verb} {'each of ' if len(names) > 1 else ''}{_listed(list(names))}{complement}"
            for (verb, complement), names in objects.items()
        ]
        more = len(sentences) - _SHOWN
        return " and ".join([*sentences[:_SHOWN], *([f"{more} more changes"] if more > 0 else [])])

    def applied(self, graph: Graph) -> Graph:
        """The graph after all changes."""
        for change in self.changes:
            graph = change.applied(graph)
        return graph


def alternatives(hints: Sequence[Hint]) -> str:
    """Several hints in one sentence, of which any will do."""
    return "; or ".join(hint.sentence for hint in hints)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    shown = [*names[:_SHOWN], *([f"{more} more"] if more > 0 else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _free_name(wanted: str, taken: Collection[str | None]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}-{number}", number + 1
    return name
