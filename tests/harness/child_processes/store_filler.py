"""A process that may write files of a limited size only, and fills a store until there is no room."""

import resource
import sys
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from streamapp_runtime.stores.store import StoreFullError, StoreKind
from tests.harness.engine.opened_stores import binary, held, mark, opened, put

BATCH = 500


def entries(number: int) -> dict[bytes, bytes | None]:
    """What a batch writes."""
    return {b"%d-%d" % (number, key): b"x" * 500 for key in range(BATCH)}


def main(kind: str, directory: str, most_bytes: int) -> None:
    """Say which batch did not fit and whether the others were still read; make room and repeat it."""
    store = opened(StoreKind(kind), Path(directory))
    put(store, entries(0))
    store.apply(mark(0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, -1))
    number = 0
    try:
        while number < 1_000:
            number += 1
            put(store, entries(number))
            store.apply(mark(number))
    except StoreFullError:
        whole = store.get(keys_of(number - 1)).null_count == 0
        read = len(held(store)) == number * BATCH
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        with suppress(StoreFullError):
            store.close()
        again = opened(StoreKind(kind), Path(directory))
        put(again, entries(number))
        again.apply(mark(number))
        again.close()
        sys.stdout.write(f"{number} {whole} {read}\n")
        sys.stdout.flush()


def keys_of(number: int) -> pa.Array:
    """The keys of a batch as a column."""
    return binary(*entries(number))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
