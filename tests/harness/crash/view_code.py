"""The besieged app's own Python, which does not survive some of the pages."""

import ctypes
import os
from collections.abc import Callable
from signal import SIGKILL
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

RAISING: Final = "/raise"
DEADLY: Final[dict[str, Callable[[], object]]] = {
    "/exit": lambda: os._exit(7),
    "/kill": lambda: os.kill(os.getpid(), SIGKILL),
    "/segfault": lambda: ctypes.string_at(0),
}
"""By page, how the worker comes to its end."""


def checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as they are, unless there is a page among them at which this fails."""
    pages = set(pc.unique(batch["page"]).to_pylist())
    for page in DEADLY.keys() & pages:
        DEADLY[page]()
    if RAISING in pages:
        raise ValueError(f"there is no page {RAISING}")
    return batch.select(["user", "n"])


def agreed(batch: pa.RecordBatch) -> pa.RecordBatch:
    """`if(initcap(country) = initcap(home), country, 'another') AS country`, without Spark."""
    same = pc.fill_null(pc.equal(batch["country"], batch["home"]), False)
    country = pc.if_else(same, batch["country"], "another")
    return pa.RecordBatch.from_arrays([batch["user"], batch["n"], country], ["user", "n", "country"])
