"""Tables that a stream fills, let go of when a test is over."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.filled_table import FilledTable

Make = Callable[..., FilledTable]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes tables, and lets go of them."""
    made: list[FilledTable] = []

    def one(kind: StoreKind = StoreKind.LMDB, **settings: Any) -> FilledTable:
        made.append(FilledTable(tmp_path, kind, **settings))
        return made[-1]

    yield one
    for each in made:
        each.side_inputs.release()
        each.system.close()
