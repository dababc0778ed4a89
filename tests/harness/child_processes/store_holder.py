"""A worker that opens a store, says so, and keeps it until it is ended."""

import sys
from pathlib import Path

from streamapp_runtime.stores.store import StoreIdentity, StoreKind
from streamapp_runtime.stores.store_opening import open_store

if __name__ == "__main__":
    directory, owner, run_id, task, table, schema = sys.argv[1:]
    store = open_store(
        StoreKind.LMDB, Path(directory), StoreIdentity(run_id, task, table, schema), owner=owner
    )
    print("kept", flush=True)  # noqa: T201
    sys.stdin.read()
