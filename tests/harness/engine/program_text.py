"""A program as text, for people: layers in order, what each does to which rows, where rows wait a batch."""

from collections.abc import Iterator

from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.program.program import PlacedOperation, Program, PythonLayer, RowEdge, SqlLayer


def program_text(program: Program) -> str:
    """All layers, then hops, edges and the wide row."""
    return "\n".join(_lines(program)) + "\n"


def _lines(program: Program) -> Iterator[str]:
    for number, layer in enumerate(program.layers):
        if isinstance(layer, PythonLayer):
            yield f"layer {number}: Python"
            yield from (f"  {_task(task)}" for task in layer.tasks)
        else:
            yield f"layer {number}: Spark SQL"
            yield from (f"  {line}" for line in _steps(layer))
    hops = [
        task
        for layer in program.layers
        if isinstance(layer, PythonLayer)
        for task in layer.tasks
        if isinstance(task.operation, Write) and task.operation.role is StreamRole.HOP
    ]
    for task in hops:
        stream = task.operation.stream if isinstance(task.operation, Write) else ""
        yield f'hop: rows for "{task.name.removesuffix("/hop")}" wait in {stream} until the next batch'
    for edge in program.edges:
        yield f"edge {edge.tag}: {edge.producer} -> {edge.consumer} ({_columns(edge)})"
    yield f"row: {program.schema}"


def _task(task: PlacedOperation) -> str:
    tags = f"{_tags(task.sources)} -> {_tags(task.outputs)}".strip()
    what = type(task.operation).__name__
    if isinstance(task.operation, Read | Write):
        what += f" {task.operation.role} {task.operation.stream} as {task.operation.format}"
    return f"{task.name}: {what} [{tags}]"


def _steps(layer: SqlLayer) -> Iterator[str]:
    for number, step in enumerate(layer.steps):
        yield f"step {number}: {', '.join(step.pieces)}"
        if step.where:
            yield f"  where {step.where}"
        for generator, place, element in step.explode:
            yield f"  {generator} as {place}, {element}"
        for register, text in step.project:
            yield f"  {register} = {text}"
        for tag, onto in step.fan_out:
            yield f"  {tag} goes on as {', '.join(map(str, onto))}"


def _tags(edges: tuple[RowEdge, ...]) -> str:
    return ", ".join(str(edge.tag) for edge in edges)


def _columns(edge: RowEdge) -> str:
    return ", ".join(f"{c.name} {c.type} in {r}" for c, r in zip(edge.columns, edge.registers, strict=True))
