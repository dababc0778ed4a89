"""A program as text, for people: what each operation does to which rows."""

from collections.abc import Iterator

from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.program import PlacedOperation, Program, RowEdge


def program_text(program: Program) -> str:
    """All operations, then the edges between them."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    yield from map(_task, program.tasks)
    for edge in program.edges:
        columns = ", ".join(f"{column.name} {column.type}" for column in edge.columns)
        yield f"edge {edge.tag}: {edge.producer} -> {edge.consumer} ({columns})"


def _task(task: PlacedOperation) -> str:
    tags = f"{_tags(task.sources)} -> {_tags(task.outputs)}".strip()
    what = type(task.operation).__name__
    if isinstance(task.operation, Read | Write):
        what += f" {task.operation.role} {task.operation.stream} as {task.operation.format}"
    return f"{task.name}: {what} [{tags}]"


def _tags(edges: tuple[RowEdge, ...]) -> str:
    return ", ".join(str(edge.tag) for edge in edges)
