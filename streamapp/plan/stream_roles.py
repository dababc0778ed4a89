"""What each stream is to the app, told by who reads and who writes it."""

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Role
from streamapp.spec.resource.operator_kinds import StreamUse


def stream_roles(graph: Graph) -> dict[str, Role]:
    """The role of every stream that the app uses, sorted by name; one that nothing uses has none."""
    made: set[str] = set()
    read: set[str] = set()
    written: set[str] = set()
    for operator in graph.operators.values():
        if operator.stream is None:
            continue
        if operator.cuts:
            made.add(operator.stream)
        elif operator.is_input:
            read.add(operator.stream)
        elif operator.traits.stream is StreamUse.WRITES:
            written.add(operator.stream)
    sides = {name for table in graph.tables.values() for name in table.side_inputs}

    def role(name: str) -> Role:
        if name in made:
            return Role.INTERMEDIATE
        if name in written:
            return Role.INPUT_OUTPUT if name in read or name in sides else Role.OUTPUT
        return Role.INPUT if name in read else Role.SIDE_INPUT

    used = made | ((read | written | sides) & graph.streams.keys())
    return {name: role(name) for name in sorted(used)}
