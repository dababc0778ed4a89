"""A mark as bytes, and whether it is the mark of the store that was expected."""

import json
from dataclasses import asdict

from streamapp.durable_forms import VersionRefusal
from streamapp_runtime.runtime_durable_forms import STORE_MARK
from streamapp_runtime.stores.store import StoreDamagedError, StoreIdentity, StoreMark


def mark_to_bytes(mark: StoreMark) -> bytes:
    """A mark as a store keeps it."""
    return json.dumps({"form": STORE_MARK.version} | asdict(mark), sort_keys=True).encode()


def mark_from_bytes(content: bytes) -> StoreMark:
    """A mark as it was kept; StoreDamagedError where it cannot be read."""
    try:
        fields = json.loads(content)
        form = fields.pop("form")
        version = STORE_MARK.read_version(form, "the store's mark")
        if isinstance(version, VersionRefusal):
            raise StoreDamagedError(version.message, version.reason)
        mark = StoreMark(**fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreDamagedError("the store's mark cannot be read") from error
    texts = (mark.run_id, mark.task, mark.table, mark.schema, mark.attempt, mark.version)
    whole = isinstance(mark.changelog, int) and isinstance(mark.written_ms, int)
    if not whole or not _are_positions(mark.positions) or not all(isinstance(text, str) for text in texts):
        raise StoreDamagedError("the store's mark cannot be read")
    return mark


def _are_positions(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(at, int) for at in value.values())


def check_mark(mark: StoreMark | None, empty: bool, expected: StoreIdentity) -> None:
    """Refuse a store that is not the expected one, or of which nobody can say what it contains."""
    if mark is None:
        if not empty:
            raise StoreDamagedError("the store has entries and no mark that says what they are")
        return
    identity = mark.identity
    for name, actual, expected_value in (
        ("run", identity.run_id, expected.run_id),
        ("task", identity.task, expected.task),
        ("table", identity.table, expected.table),
        ("schema", identity.schema, expected.schema),
    ):
        if actual != expected_value:
            raise StoreDamagedError(f"the store is of {name} {actual!r}, expected was {expected_value!r}")
