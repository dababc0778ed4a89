"""Programs put together of a few operations, as a compiler would place them."""

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.operators.operation import Operation
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.program.program import PlacedOperation, Program, RowEdge


def program(**pieces: tuple[Operation, tuple[str, ...]]) -> Program:
    """Pieces with the names of what they read from."""
    edges = [
        RowEdge(number, source, name, ())
        for number, (name, source) in enumerate(
            (name, source) for name, (_, sources) in pieces.items() for source in sources
        )
    ]
    tasks = tuple(
        PlacedOperation(
            name,
            operation,
            tuple(edge for edge in edges if edge.consumer == name),
            tuple(edge for edge in edges if edge.producer == name),
        )
        for name, (operation, _) in pieces.items()
    )
    return Program(tasks, tuple(edges), ())


def read(
    stream: str, role: StreamRole = StreamRole.INPUT, time: str | None = None, control: bool = False
) -> Read:
    return Read(stream, "main", stream, role, "json", (Column("x", "INT"),), event_time=time, control=control)


def write(stream: str, role: StreamRole = StreamRole.INTERMEDIATE) -> Write:
    return Write(stream, "main", stream, role, "json", 1)
