"""The first row of each key, of all batches."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from streamapp_runtime.operators.dedupe.dedupe_operation import FirstOfKey

from streamapp_runtime.operators.operation_executor import OperationRunner, StateForm, StatelessExecutor
from streamapp_runtime.operators.state.lane_state import LaneState
from streamapp_runtime.operators.state.required_values import with_key, without_tombstones
from streamapp_runtime.operators.state.stored_entries import EntryKind, StoredEntries
from streamapp_runtime.operators.state.typed_rows import TypedRows
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.rows.task_slices import concat_slices, slices_by_task

KNOWN = pa.schema([("known", pa.bool_())])


@dataclass(frozen=True, slots=True)
class DedupeExecutor(StatelessExecutor):
    """Runs FirstOfKey. Rows without a key are counted and skipped."""

    operation: FirstOfKey

    def execute(self, slices: tuple[Slice, ...], state: LaneState) -> Slice | None:
        """The rows whose keys were never there before."""
        (rows,) = slices
        keyed = with_key(without_tombstones(rows), self.operation.state, state)
        return concat_slices([self._of_task(part, task, state) for task, part in slices_by_task(keyed)])

    def _of_task(self, rows: Slice, task: int, state: LaneState) -> Slice:
        _, firsts = np.unique(np.asarray(rows.key.dictionary_encode().indices), return_index=True)
        first_rows = rows.take(pa.array(np.sort(firsts)))
        store = TypedRows(state, task, self.operation.state, KNOWN)
        new_rows = first_rows.filter(pc.is_null(store.find(first_rows.key).places))
        known = pa.RecordBatch.from_arrays([pa.array([True] * len(new_rows))], schema=KNOWN)
        store.put(new_rows.key, known)
        return new_rows


def _executor(operation: FirstOfKey, _: Sequence[pa.Schema], __: pa.Schema) -> DedupeExecutor:
    return DedupeExecutor(operation)


def _state_form(_: FirstOfKey, __: Sequence[pa.Schema]) -> StateForm:
    return StateForm("dedupe", (KNOWN,), StoredEntries(EntryKind.ROWS, (KNOWN,)))


DEDUPE_RUNNER = OperationRunner(executor=_executor, state_form=_state_form)
