"""A process that puts and applies batches until it is killed, and tells of each that is applied.

Batch n gives every tenth key from n % 10 on the value n, takes away the key before the first of these, and is
applied with a mark at n. A batch is put in pieces, and every third one is put, dropped and put again.
"""

import sys
from pathlib import Path

from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.opened_stores import mark, opened, put

KEYS = 2_000


def content(last: int) -> dict[bytes, bytes]:
    """What a store holds after so many batches."""
    held: dict[bytes, bytes] = {}
    for number in range(1, last + 1):
        held.update((key, value) for key, value in writes(number).items() if value is not None)
        for key, value in writes(number).items():
            if value is None:
                held.pop(key, None)
    return held


def writes(number: int) -> dict[bytes, bytes | None]:
    """What a batch writes."""
    keys = range(number % 10, KEYS, 10)
    first = (number % 10 - 1) % KEYS
    return {b"%05d" % key: b"%d" % number for key in keys} | {b"%05d" % first: None}


def main(kind: str, directory: str) -> None:
    """Go on from where the store is."""
    store = opened(StoreKind(kind), Path(directory))
    number = store.mark.changelog if store.mark else 0
    while True:
        number += 1
        entries = list(writes(number).items())
        if number % 3 == 0:
            put(store, dict(entries[50:]))
            store.drop()
        for start in range(0, len(entries), 40):
            put(store, dict(entries[start : start + 40]))
        store.apply(mark(number))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
