"""A map that logs, prints and fails to parse, for tests of an app's lines."""

import logging
import os
import sys
import traceback

import pyarrow as pa

_log = logging.getLogger(__name__)


def logged(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows."""
    word = os.environ["WORD"]
    _log.debug("debug: %d rows", batch.num_rows)
    _log.info("the word is %s", word)
    sys.stdout.write(f"printed {word}\n")
    try:
        int("no number")
    except ValueError:
        traceback.print_exc()
        _log.exception("failed")
    return batch
