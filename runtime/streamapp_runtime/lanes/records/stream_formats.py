"""The formats in which operations read and write."""

from collections.abc import Mapping, Sequence

from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.record_format import RecordFormat
from streamapp_runtime.formats.registered_keys import KeyedRecords, RegisteredKeys
from streamapp_runtime.formats.stream_format import DEFAULT_OPTIONS, open_format
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.program import PlacedOperation
from streamapp_runtime.systems.app_systems import Systems


def record_formats(
    tasks: Sequence[PlacedOperation], options: Mapping[str, FormatOptions], systems: Systems
) -> dict[str, RecordFormat]:
    """Formats by the stream that is read, and by the task that writes: two may write other columns to one.

    `options` are those of the streams that have any; `systems` have the registries of schemas.
    """
    return {
        task.operation.name if isinstance(task.operation, Read) else task.name: task_format(
            task, options, systems
        )
        for task in tasks
        if isinstance(task.operation, Read | Write)
    }


def task_format(
    task: PlacedOperation, options: Mapping[str, FormatOptions], systems: Systems | None = None
) -> RecordFormat:
    """The format of the stream that a task reads or writes; UnfitFormatError where rows do not fit it."""
    operation = task.operation
    if not isinstance(operation, Read | Write):
        raise TypeError(f"{task.name} is neither read nor written")
    if isinstance(operation, Read):
        columns = operation.value_columns
    else:
        columns = tuple(operation.value_columns(task.sources[0].columns))
    of_stream = options.get(operation.stream, DEFAULT_OPTIONS)
    registered = of_stream.registry or of_stream.key_format
    schemas = systems.schemas(operation.stream) if systems and registered else None
    values = open_format(operation.format, columns, of_stream, schemas)
    if of_stream.key_format is None:
        return values
    if isinstance(operation, Write):
        of_keys = operation.key_columns
    else:
        of_keys = tuple(column for column in columns if column.name == operation.key)
    return KeyedRecords(values, RegisteredKeys(of_stream, of_keys, schemas))
