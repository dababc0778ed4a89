"""The row that counts where several have one key."""

import numpy as np
import pyarrow as pa


def last_of_each(keys: pa.Array) -> pa.Array:
    """The last place of each distinct key, in order. No key is null."""
    encoded = keys.dictionary_encode()
    last = np.empty(len(encoded.dictionary), np.int64)
    last[encoded.indices.to_numpy()] = np.arange(len(keys))  # of equal places the last one stays
    last.sort()
    return pa.array(last)
