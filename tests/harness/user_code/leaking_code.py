"""Code that repeats what it was trusted with, wherever it can."""

import logging
import os
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa


class Leaking:
    """Writes the value of a variable to each stream and into the log, and fails with it."""

    def process(self, batch: pa.RecordBatch, state: Any, out: Callable[[pa.RecordBatch], None]) -> None:
        word = os.environ["WORD"]
        sys.stdout.write(f"printed by a worker: {word}\n")
        sys.stdout.flush()
        sys.stderr.write(f"written by a worker: {word}\n")
        sys.stderr.flush()
        logging.getLogger("app").warning("logged by a worker: %s", word)
        raise ConnectionError(f"cannot log in with {word}")
