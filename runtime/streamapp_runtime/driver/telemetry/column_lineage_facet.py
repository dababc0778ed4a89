"""The columnLineage facet of an output: its columns, each with the columns of inputs that it is made of."""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final

from openlineage.client.facet_v2 import column_lineage_dataset

from streamapp_runtime.program.column_lineage import Origin, OutputLineage

DatasetName = tuple[str, str]
"""Namespace and name of a dataset."""
_UNREAD: Final = "may be read by the Python code"


def column_lineage_facet(
    lineage: OutputLineage, dataset_of: Callable[[str], DatasetName]
) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    """The facet; `dataset_of` names the dataset of an input stream."""
    fields = {
        column: column_lineage_dataset.Fields(_input_fields(origins, dataset_of))
        for column, origins in lineage.columns.items()
    }
    return column_lineage_dataset.ColumnLineageDatasetFacet(fields, _input_fields(lineage.rows, dataset_of))


def _input_fields(
    origins: Iterable[Origin], dataset_of: Callable[[str], DatasetName]
) -> list[column_lineage_dataset.InputField]:
    """Each column once, with all that it is to what is made of it."""
    by_column = groupby(sorted(origins), key=lambda origin: (origin.stream, origin.column))
    return [
        column_lineage_dataset.InputField(*dataset_of(stream), column, [_transformation(o) for o in uses])
        for (stream, column), uses in by_column
    ]


def _transformation(origin: Origin) -> column_lineage_dataset.Transformation:
    return column_lineage_dataset.Transformation(
        "DIRECT" if origin.use.is_direct else "INDIRECT",
        origin.use.value,
        f"{_UNREAD} {origin.python}" if origin.python else None,
    )
