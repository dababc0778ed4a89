from collections.abc import Callable

import pytest

from streamapp.metadata.memory import MemoryStore
from streamapp.metadata.store import MetadataStore
from tests.metadata.contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def fresh(self) -> Callable[[], MetadataStore]:
        return MemoryStore
