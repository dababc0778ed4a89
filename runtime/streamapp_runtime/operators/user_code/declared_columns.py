"""The batches that user code gives, held against the columns that were declared for it."""

import pyarrow as pa

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError


def to_declared_columns(batch: object, declared: pa.Schema, python: str) -> pa.RecordBatch:
    """The declared columns of a batch, by name and in their order; others are left out."""
    if not isinstance(batch, pa.RecordBatch):
        raise UserCodeError(
            python, f"gave a {type(batch).__name__}", "what it gives has to be a pyarrow.RecordBatch"
        )
    missing = [field.name for field in declared if field.name not in batch.schema.names]
    if missing:
        names = ", ".join(batch.schema.names) or "none"
        raise UserCodeError(
            python,
            f"gave no column {', '.join(missing)}; its columns are: {names}",
            "give all columns that are declared for it",
        )
    columns = [_cast(batch.column(field.name), field, python) for field in declared]
    return pa.RecordBatch.from_arrays(columns, schema=declared)


def _cast(column: pa.Array, field: pa.Field, python: str) -> pa.Array:
    if column.type == field.type:
        return column
    try:
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UserCodeError(
            python,
            f'gave column "{field.name}" as {column.type}, which is no {field.type}: {error}',
            "give it in the declared type",
        ) from error
