"""The embedded log does what every system does, with every way of keeping blocks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp_runtime.systems.embedded.block import Compression
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.runtime.systems.delivery_contract import DeliveryContract
from tests.runtime.systems.system_contract import SystemContract, SystemFactory


@pytest.fixture(params=[None, "lz4_raw", "zstd"])
def system_factory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[SystemFactory]:
    compression: Compression | None = request.param
    opened: list[EmbeddedSystem] = []

    def factory() -> EmbeddedSystem:
        opened.append(EmbeddedSystem(tmp_path / "log", compression=compression))
        return opened[-1]

    yield factory
    for system in opened:
        system.close()


class TestEmbedded(SystemContract, DeliveryContract):
    pass
