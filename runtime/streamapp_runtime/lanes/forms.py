"""The format of each stream that a layer reads or writes."""

from collections.abc import Sequence

from streamapp.spec.columns import Column
from streamapp_runtime.formats.format import Format
from streamapp_runtime.formats.json.format import JsonFormat
from streamapp_runtime.program.operations import Read, Write
from streamapp_runtime.program.program import PythonLayer


def forms(layer: PythonLayer) -> dict[str, Format]:
    """Formats by stream."""
    found: dict[str, Format] = {}
    for task in layer.tasks:
        match task.operation:
            case Read(stream=stream, format=name, columns=columns):
                found[stream] = form_of(name, columns)
            case Write(stream=stream, format=name):
                found[stream] = form_of(name, task.sources[0].columns)
    return found


def form_of(name: str, columns: Sequence[Column]) -> Format:
    """The format of that name for those columns."""
    return JsonFormat(columns)
