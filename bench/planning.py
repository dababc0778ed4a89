"""Planning: time by size, for apps of four shapes, alone and for each operator, edge and membership."""

from collections.abc import Iterator
from time import perf_counter

from bench.row import Aim, Row
from streamapp.graph.nodes import Graph, OperatorNode, StreamNode
from streamapp.plan.partition_plan import Plan
from streamapp.plan.planner import plan
from streamapp.spec.resource.operator_kinds import OperatorKind

SERIES = (1_000, 2_000, 5_000, 10_000, 20_000)


def rows() -> Iterator[Row]:
    """The two aims, then how time grows with operators, edges and memberships of streams in joins."""
    seconds, _ = _best(many_joins(200, 10_000))
    yield Row("200 operators over streams of 10,000 partitions", seconds * 1e3, "ms", Aim(most=50))
    for shape in (one_chain, many_joins, joins_in_a_row, failing_joins_in_a_row):
        name = shape.__name__.replace("_", " ")
        first = 0.0
        for count in SERIES:
            graph = shape(count, 64)
            seconds, found = _best(graph)
            size = _size(graph, found)
            each = seconds / size
            first = first or each
            aim = Aim(most=1_000) if count <= 10_000 and not found.errors else None
            beside = f"{each * 1e9:,.0f} ns for each of {size:,} ({each / first:.2f} of the first)"
            yield Row(f"{name}: {len(graph.operators):,} operators", seconds * 1e3, "ms", aim, beside)


def one_chain(count: int, partitions: int) -> Graph:
    """Each operator reads the one before it."""
    operators = [OperatorNode("o0", OperatorKind.INPUT, stream="s")]
    operators += [OperatorNode(f"o{n}", OperatorKind.MAP, (f"o{n - 1}",)) for n in range(1, count)]
    return _graph(operators, {"s": partitions})


def many_joins(count: int, partitions: int) -> Graph:
    """Joins that have nothing to do with each other."""
    operators = [
        operator
        for n in range(count // 5)
        for operator in (
            OperatorNode(f"a{n}", OperatorKind.INPUT, stream=f"s{n}"),
            OperatorNode(f"b{n}", OperatorKind.INPUT, stream=f"t{n}"),
            OperatorNode(f"p{n}", OperatorKind.PARTITION_BY, (f"a{n}",), f"q{n}"),
            OperatorNode(f"m{n}", OperatorKind.MAP, (f"p{n}",)),
            OperatorNode(f"j{n}", OperatorKind.JOIN, (f"m{n}", f"b{n}")),
        )
    ]
    return _graph(operators, {f"{name}{n}": partitions for n in range(count // 5) for name in "st"})


def joins_in_a_row(count: int, partitions: int) -> Graph:
    """Each join reads the one before it, so that the groups grow to thousands of streams."""
    joins = count // 3
    operators = [OperatorNode("j0", OperatorKind.INPUT, stream="s0")]
    for n in range(1, joins):
        operators.append(OperatorNode(f"i{n}", OperatorKind.INPUT, stream=f"s{n}"))
        operators.append(OperatorNode(f"p{n}", OperatorKind.PARTITION_BY, (f"i{n}",), f"q{n}"))
        operators.append(OperatorNode(f"j{n}", OperatorKind.JOIN, (f"j{n - 1}", f"p{n}")))
    return _graph(operators, {f"s{n}": partitions for n in range(joins)})


def failing_joins_in_a_row(count: int, partitions: int) -> Graph:
    """The same over inputs that disagree, so that every join is an error that holds its whole group."""
    joins = count // 4
    operators = [OperatorNode("j0", OperatorKind.INPUT, stream="s0")]
    for n in range(1, joins):
        operators.append(OperatorNode(f"i{n}", OperatorKind.INPUT, stream=f"s{n}"))
        operators.append(OperatorNode(f"m{n}", OperatorKind.MAP, (f"i{n}",)))
        operators.append(OperatorNode(f"n{n}", OperatorKind.MAP, (f"m{n}",)))
        operators.append(OperatorNode(f"j{n}", OperatorKind.JOIN, (f"j{n - 1}", f"n{n}")))
    return _graph(operators, {f"s{n}": partitions + n % 7 for n in range(joins)})


def _graph(operators: list[OperatorNode], counts: dict[str, int]) -> Graph:
    streams = {name: StreamNode(name, "main", count) for name, count in counts.items()}
    return Graph({operator.name: operator for operator in operators}, streams, {})


def _best(graph: Graph) -> tuple[float, Plan]:
    """The shortest of three runs: the others measure what else the machine did."""
    taken = []
    for _ in range(3):
        start = perf_counter()
        found = plan(graph)
        taken.append(perf_counter() - start)
    return min(taken), found


def _size(graph: Graph, found: Plan) -> int:
    edges = sum(len(operator.inputs) for operator in graph.operators.values())
    return len(graph.operators) + edges + sum(len(joined.streams) for joined in found.joins)
