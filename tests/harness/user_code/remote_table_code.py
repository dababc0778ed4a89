"""Classes that stand for remote tables, as an app's team would write them, and such as are wrong."""

from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import pyarrow as pa

from streamapp_runtime.remote.remote_class import RemoteConfig

PRICES = {b"a": {"price": 1.5, "name": "apple"}, b"b": {"price": None, "name": "bean"}}


class Prices:
    """Knows two rows, and what happened to it."""

    log: ClassVar[list[str]] = []

    def open(self, config: RemoteConfig) -> None:
        self.log.append(f"open {config.table} {config.options}")

    def get_many(self, keys: pa.BinaryArray) -> list[dict[str, Any] | None]:
        self.log.append(f"get {sorted(keys.to_pylist())}")
        return [PRICES.get(key) for key in keys.to_pylist()]

    def close(self) -> None:
        self.log.append("close")


class ServiceError(Exception):
    """What a client of some service raises when that is away."""


class Failing:
    """Fails so often, first by errors of its own, and says which object was asked."""

    unavailable = (ServiceError,)
    failures: ClassVar[list[Exception]] = []
    asked: ClassVar[list[int]] = []

    def get_many(self, keys: pa.BinaryArray) -> list[dict[str, Any] | None]:
        self.asked.append(id(self))
        if self.failures:
            raise self.failures.pop(0)
        return [{"price": 1.0, "name": None}] * len(keys)


class Hanging:
    """Hangs as long as it is told to."""

    free: ClassVar[Event] = Event()
    closed: ClassVar[Event] = Event()

    def get_many(self, keys: pa.BinaryArray) -> list[None]:
        self.free.wait(60)
        return [None] * len(keys)

    def close(self) -> None:
        self.closed.set()


class Folder:
    """A file for each key; the service is away while there is no folder."""

    columns = pa.schema([("tier", pa.int32())])

    def check(self, config: RemoteConfig) -> None:
        if "path" not in config.options:
            raise ValueError("no option path")

    def open(self, config: RemoteConfig) -> None:
        self.path = Path(config.options["path"])

    def get_many(self, keys: pa.BinaryArray) -> list[dict[str, Any] | None]:
        there = {file.name: int(file.read_text()) for file in self.path.iterdir()}
        with (self.path.parent / "asked").open("a") as asked:
            asked.writelines(f"{key.decode()}\n" for key in sorted(keys.to_pylist()))
        return [
            {"tier": there[name]} if name in there else None
            for name in (key.decode() for key in keys.to_pylist())
        ]


class SlowFolder(Folder):
    """Takes half a second for an answer."""

    def get_many(self, keys: pa.BinaryArray) -> list[dict[str, Any] | None]:
        Event().wait(0.5)
        return Folder.get_many(self, keys)


class Tiers:
    """Looks each row up in a remote table."""

    def process(self, batch: pa.RecordBatch, state: Any, out: Any) -> None:
        found = state["far"].get(batch["__key"])
        known = state["far"].has(batch["__key"])
        out(pa.record_batch({"user": batch["user"], "tier": found["tier"], "known": known}))


class WantsArguments:
    def __init__(self, url: str) -> None: ...

    def get_many(self, keys: pa.BinaryArray) -> Sequence[None]:
        return [None] * len(keys)


class WithoutGetMany:
    def get(self, key: bytes) -> None: ...


class OfOneKey:
    def get_many(self) -> None: ...


class OpenedWithoutConfig:
    def open(self) -> None: ...

    def get_many(self, keys: pa.BinaryArray) -> Sequence[None]:
        return [None] * len(keys)


class UnavailableByName:
    unavailable = "ServiceError"

    def get_many(self, keys: pa.BinaryArray) -> Sequence[None]:
        return [None] * len(keys)


def function(keys: pa.BinaryArray) -> Sequence[None]:
    return [None] * len(keys)
