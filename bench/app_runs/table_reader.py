"""A process that reads all of a table and tells how much memory it has to itself; for `adjunct_tables`."""

import json
import sys
from pathlib import Path

import pyarrow as pa

from streamapp_runtime.stores.engines.memory_store import MemoryStore
from streamapp_runtime.stores.store import StoreKind, StoreLimits
from streamapp_runtime.stores.store_snapshot import open_snapshot

CACHED = StoreLimits(cached_bytes=1 << 20)


def main(kind: StoreKind, version: Path, *, copied: bool) -> None:
    """Read a version where it lies, or into a copy in memory first."""
    before = private_bytes()
    store = open_snapshot(kind, version, CACHED)
    read, copy = store, MemoryStore(CACHED)
    if copied:
        for keys, values in store.batches():
            copy.load(keys, values)
        read = copy
    found = 0
    for keys, _ in store.batches():
        found += len(read.get(keys).drop_null())
    pa.default_memory_pool().release_unused()
    print(json.dumps([found, private_bytes() - before]))
    store.close()


def private_bytes() -> int:
    """What this process shares with no other."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


if __name__ == "__main__":
    main(StoreKind(sys.argv[1]), Path(sys.argv[2]), copied=sys.argv[3] == "copy")
