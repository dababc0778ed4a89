"""The nodes and edges of a diagram that a plan's errors highlight."""

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, PlanError
from streamapp.plan.render.diagram.elements import ErrorRole, NodeKey, operator_key, stream_key
from streamapp.spec.reasons import Reason


def error_role_by_node(graph: Graph, plan: Plan) -> Mapping[NodeKey, ErrorRole]:
    """The error role of each node that an error names."""
    roles: dict[NodeKey, ErrorRole] = {}
    for error in plan.errors:
        failing = set(deviating_streams(error))
        for name, _ in error.streams:
            if name in failing:
                roles[stream_key(name)] = ErrorRole.FAILING
            else:
                roles.setdefault(stream_key(name), ErrorRole.INVOLVED)
        if error.operator is not None and error.operator in graph.operators:
            roles[operator_key(graph.operators[error.operator])] = ErrorRole.FAILING
    return roles


def deviating_streams(error: PlanError) -> tuple[str, ...]:
    """The streams whose count differs from the majority's; without a majority, all streams with a count."""
    if error.reason is not Reason.JOIN_PARTITION_MISMATCH:
        return tuple(name for name, _ in error.streams)
    frequencies = Counter(count for _, count in error.streams if count is not None)
    usual_count, votes = frequencies.most_common(1)[0] if frequencies else (None, 0)
    majority_count = usual_count if 2 * votes > frequencies.total() else None
    return tuple(name for name, count in error.streams if count is not None and count != majority_count)


def failing_edges(
    edges: Sequence[tuple[int, int]], members: Iterable[int], deviating: Iterable[int], join: int
) -> set[tuple[int, int]]:
    """The edges of a failing join's group on the way of deviating streams, and all edges into the join."""
    group = set(members)
    targets_of: dict[int, list[int]] = {}
    for source, target in edges:
        if source in group and target in group:
            targets_of.setdefault(source, []).append(target)
    reached = set(deviating) & group
    waiting = deque(reached)
    failing = {(source, join) for source, targets in targets_of.items() if join in targets}
    while waiting:
        node = waiting.popleft()
        if node == join:
            continue
        for target in targets_of.get(node, ()):
            failing.add((node, target))
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return failing
