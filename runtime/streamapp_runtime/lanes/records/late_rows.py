"""Late rows as they are written to the app's stream for them, so that they may be counted elsewhere.

Each is a JSON object: the `operator` that left it out, its `time`, the `watermark` that it came behind,
both in milliseconds, and the `row` itself. Its key is the row's own.
"""

import json

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.formats.json.json_writer import json_records
from streamapp_runtime.operators.state.lane_state import LateRowBatch


def late_row_records(late: LateRowBatch) -> tuple[pa.Array, pa.Array]:
    """Their keys and values."""
    rows = late.rows
    objects = json_records(pa.RecordBatch.from_arrays(list(rows.columns), schema=late.columns))
    before = f'{{"operator":{json.dumps(late.operator, ensure_ascii=False)},"time":'
    between = f',"watermark":{late.watermark},"row":'
    texts = pc.binary_join_element_wise(before, rows.time.cast(pa.string()), between, objects, "}", "")
    return rows.key, texts.cast(pa.binary())
