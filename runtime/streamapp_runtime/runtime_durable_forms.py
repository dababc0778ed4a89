"""The forms of the runtime that outlive a process; `streamapp.durable_forms` has the rule for versions."""

from typing import Final

from streamapp.durable_forms import DurableForm

_STREAM = "checkpoint stream"
_DRIVER = "the next driver"
_ABSENT = "Version 1 has no number. A later one is an object whose `format` is a number."
_EMPTIED = "A store that cannot be read is emptied and restored."

CHECKPOINT: Final = DurableForm(
    "checkpoint",
    1,
    f"{_STREAM}, under the name of each task",
    "the driver, the lane of the task, `state`",
    "Old drivers refuse it: an app that has written it cannot go back to the version before.",
)
INCARNATION: Final = DurableForm(
    "incarnation", 1, _STREAM, "the next driver, lanes that look whether they were replaced", _ABSENT
)
OWNER: Final = DurableForm(
    "owner of the application id", 1, _STREAM, "every driver, before it takes over", _ABSENT
)
RESET: Final = DurableForm("last reset", 1, _STREAM, _DRIVER, _ABSENT)
START_POSITIONS: Final = DurableForm("start positions", 1, _STREAM, _DRIVER, _ABSENT)
WRITERS: Final = DurableForm("list of writers", 1, _STREAM, "the next driver, which fences them", _ABSENT)
STREAM_IDENTITIES: Final = DurableForm("identities of streams", 1, _STREAM, _DRIVER, _ABSENT)
LEADER_EPOCHS: Final = DurableForm("epochs of leaders", 1, _STREAM, _DRIVER, _ABSENT)
WRITERS_MODEL: Final = DurableForm("version of upstream tasks", 1, _STREAM, _DRIVER, _ABSENT)
BOUNDED_TURN: Final = DurableForm("turn of a batch app", 1, _STREAM, _DRIVER, _ABSENT)
STATE_SCHEMAS: Final = DurableForm(
    "schemas of stores", 1, _STREAM, "the next driver, before it touches a store", _ABSENT
)
IMPORTS: Final = DurableForm("imported tables", 1, _STREAM, _DRIVER, _ABSENT)
FENCE: Final = DurableForm("fence", 1, f"{_STREAM} in Kafka", "transactions, before they commit", _ABSENT)

ROW: Final = DurableForm(
    "row",
    1,
    "first byte of each row in stores, changelogs and tables of operators",
    "the lane of the task, `state`",
    "Hashes of schemas name the version: stores of the old one are restored, and changelogs hold both.",
    "form",
)
STORE_MARK: Final = DurableForm(
    "mark of a store", 1, "each store, next to its rows", "the lane that opens it, `state`", _EMPTIED, "form"
)
STORE_FORM: Final = DurableForm(
    "form of a store",
    1,
    "file `form` in each store's directory",
    "whoever opens the store",
    f"It covers all bytes of an engine, long keys included. {_EMPTIED}",
    "form",
)
UNSYNCED_FILE: Final = DurableForm(
    "note of unsynced writes",
    1,
    "file `unsynced` in each store's directory",
    "the lane that opens the store",
    "It is the name of a boot, and anything else means another boot.",
)
LOCATION_FILE: Final = DurableForm(
    "name of a location",
    1,
    "file `location` in the directory of state",
    "lanes that look whether they share a directory",
    "It is an opaque name. Another name is another location.",
)
LOCK_HOLDER: Final = DurableForm(
    "holder of a store's lock",
    1,
    "file next to the lock",
    "messages about busy stores",
    "The lock counts, not the file: if it cannot be read, the message names no holder.",
)
OWNED_STORES: Final = DurableForm(
    "list of owned stores",
    1,
    "file `owned.json` in the app's directory of state",
    "`state list` and `state prune`",
    "Each start rewrites it. Nothing is pruned by a list that cannot be read.",
)
TABLES_FILE: Final = DurableForm(
    "list of tables and operators' stores",
    2,
    "file `tables.json` in the app's directory of state",
    "`state`",
    f"Each start rewrites it. {_ABSENT}",
)
EMBEDDED_LOG: Final = DurableForm(
    "embedded log",
    1,
    "LMDB environment in the log's folder",
    "every process that opens the log",
    "It covers all keys and blocks. A log of an old version is converted, or read as it is.",
)

DURABLE_FORMS: Final = (
    CHECKPOINT,
    INCARNATION,
    OWNER,
    RESET,
    START_POSITIONS,
    WRITERS,
    STREAM_IDENTITIES,
    LEADER_EPOCHS,
    WRITERS_MODEL,
    BOUNDED_TURN,
    STATE_SCHEMAS,
    IMPORTS,
    FENCE,
    ROW,
    STORE_MARK,
    STORE_FORM,
    UNSYNCED_FILE,
    LOCATION_FILE,
    LOCK_HOLDER,
    OWNED_STORES,
    TABLES_FILE,
    EMBEDDED_LOG,
)
