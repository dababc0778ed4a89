"""Where a plan's errors show in a picture: on which nodes, and along which edges."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, PlanError
from streamapp.plan.render.diagram.elements import ErrorRole
from streamapp.plan.render.diagram.node_keys import NodeKey, operator_key, stream_key
from streamapp.spec.reasons import Reason


def error_role_by_node(graph: Graph, plan: Plan) -> Mapping[NodeKey, ErrorRole]:
    """The nodes that errors are about."""
    found: dict[NodeKey, ErrorRole] = {}
    for error in plan.errors:
        failing = set(deviating_streams(error))
        for name, _ in error.streams:
            if name in failing:
                found[stream_key(name)] = ErrorRole.FAILING
            else:
                found.setdefault(stream_key(name), ErrorRole.INVOLVED)
        if error.operator is not None and error.operator in graph.operators:
            found[operator_key(graph.operators[error.operator])] = ErrorRole.FAILING
    return found


def deviating_streams(error: PlanError) -> tuple[str, ...]:
    """The streams to look at first: those off the count that most have, else all with a count.

    Among many streams of one count, the few of another are easily overlooked.
    """
    if error.reason is not Reason.JOIN_PARTITION_MISMATCH:
        return tuple(name for name, _ in error.streams)
    having = Counter(count for _, count in error.streams if count is not None)
    usual, votes = having.most_common(1)[0] if having else (None, 0)
    most = usual if 2 * votes > having.total() else None
    return tuple(name for name, count in error.streams if count is not None and count != most)


def failing_edges(
    edges: Sequence[tuple[int, int]], members: Iterable[int], odd: Iterable[int], join: int
) -> set[tuple[int, int]]:
    """The edges of a failing join's group that its odd streams' rows take, and all that lead into it."""
    within = set(members)
    after: dict[int, list[int]] = {}
    for source, target in edges:
        if source in within and target in within:
            after.setdefault(source, []).append(target)
    seen = set(odd) & within
    waiting = deque(seen)
    found = {(source, join) for source, targets in after.items() if join in targets}
    while waiting:
        node = waiting.popleft()
        if node == join:
            continue
        for target in after.get(node, ()):
            found.add((node, target))
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return found
