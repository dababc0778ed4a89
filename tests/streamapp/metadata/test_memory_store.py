from collections.abc import Callable

import pytest

from streamapp.metadata.metadata_store import MetadataStore
from tests.harness.core.memory_metadata_store import MemoryMetadataStore
from tests.streamapp.metadata.metadata_store_contract import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def fresh(self) -> Callable[[], MetadataStore]:
        return MemoryMetadataStore
