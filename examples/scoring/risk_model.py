"""A logistic regression over Arrow batches. Its weights were trained elsewhere and lie beside it."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MODEL = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""Read once in each worker, when the module is imported."""

NIGHT_UNTIL, NEW_FOR_DAYS = 6, 30


def score(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The risk of each payment, and whether somebody is to look at it: one call scores the whole batch."""
    columns = {
        "log_amount": pc.log1p(pc.fill_null(batch["amount"], 0.0)),
        "night": pc.less(batch["hour"], NIGHT_UNTIL),
        "abroad": batch["abroad"],
        "new_account": pc.less(batch["age_days"], NEW_FOR_DAYS),
    }
    features = np.column_stack(
        [pc.fill_null(columns[name].cast(pa.float64()), 0.0).to_numpy() for name in MODEL["weights"]]
    )
    weights = np.array(list(MODEL["weights"].values()))
    risk = 1 / (1 + np.exp(-(features @ weights + MODEL["intercept"])))
    review = pa.array(risk >= MODEL["review_from"])
    return pa.record_batch(
        {"id": batch["id"], "amount": batch["amount"], "risk": pa.array(risk.round(6)), "review": review}
    )
