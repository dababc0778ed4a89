"""What each stream is to the app, told by who reads and who writes it."""

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Role
from streamapp.spec.resource.operator_kinds import StreamUse


def stream_roles(graph: Graph) -> dict[str, Role]:
    """The role of every stream that the app uses, sorted by name; one that nothing uses has none."""
    created_streams: set[str] = set()
    inputs: set[str] = set()
    outputs: set[str] = set()
    for operator in graph.operators.values():
        if operator.stream is None:
            continue
        if operator.cuts:
            created_streams.add(operator.stream)
        elif operator.is_input:
            inputs.add(operator.stream)
        elif operator.traits.stream is StreamUse.WRITES:
            outputs.add(operator.stream)
    side_inputs = {name for table in graph.tables.values() for name in table.side_inputs}

    def role(name: str) -> Role:
        if name in created_streams:
            return Role.INTERMEDIATE
        if name in outputs:
            return Role.INPUT_OUTPUT if name in inputs or name in side_inputs else Role.OUTPUT
        return Role.INPUT if name in inputs else Role.SIDE_INPUT

    used = created_streams | ((inputs | outputs | side_inputs) & graph.streams.keys())
    return {name: role(name) for name in sorted(used)}
