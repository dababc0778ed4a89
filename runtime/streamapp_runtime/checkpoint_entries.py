"""The entries of a checkpoint stream beside the checkpoints, under keys that begin with a NUL.

No task has a name that begins with a NUL. An entry is JSON; the layout has a codec of its own.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from streamapp import durable_forms as app_forms
from streamapp.durable_forms import DurableForm, VersionRefusal
from streamapp_runtime import runtime_durable_forms as forms
from streamapp_runtime.checkpoint import RESTORE_HINT, StateUnreadableError, json_fault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CheckpointEntry:
    """One entry: its key, its form, and whether it stays when the state of the app is given up."""

    key: bytes
    form: DurableForm
    outlives_reset: bool = False

    def encode(self, document: object) -> bytes:
        """The value of the entry."""
        return json.dumps(document).encode()

    def read(self, values: Mapping[bytes, bytes], stream: str, decode: Callable[[Any], T]) -> T | None:
        """The decoded entry among the values of a stream; None where there is none.

        StateUnreadableError where it is damaged, or of a later version: an entry is never guessed.
        """
        value = values.get(self.key)
        if value is None:
            return None
        try:
            document = json.loads(value)
            number = document.get("format") if isinstance(document, dict) else None
            version = self.form.version_within(number)
            if isinstance(version, VersionRefusal):
                hint = version.hint or RESTORE_HINT
                raise StateUnreadableError(f"{stream}, partition 0: {version.message}; {hint}")
            return decode(document)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            problem = f"the {self.form.name} cannot be read: {json_fault(error)}"
            raise StateUnreadableError(f"{stream}, partition 0: {problem}; {RESTORE_HINT}") from None


INCARNATION: Final = CheckpointEntry(b"\x00driver", forms.INCARNATION, outlives_reset=True)
"""Which driver the app has."""
OWNER: Final = CheckpointEntry(b"\x00owner", forms.OWNER, outlives_reset=True)
"""Which app of a cluster the application id belongs to."""
RESET: Final = CheckpointEntry(b"\x00reset", forms.RESET, outlives_reset=True)
"""Which reset was the last one, and for whom."""
WRITERS: Final = CheckpointEntry(b"\x00writers", forms.WRITERS, outlives_reset=True)
"""The names of all that ever wrote: a lane that nobody knows of any more may still be at it."""
LAYOUT: Final = CheckpointEntry(b"\x00layout", app_forms.LAYOUT)
"""What decides which task holds the state of which keys."""
START_POSITIONS: Final = CheckpointEntry(b"\x00starts", forms.START_POSITIONS)
"""Where partitions are begun that are not read from their oldest record."""
STREAM_IDENTITIES: Final = CheckpointEntry(b"\x00identities", forms.STREAM_IDENTITIES)
"""What tells the streams that the app reads from others that may be made under their names."""
LEADER_EPOCHS: Final = CheckpointEntry(b"\x00epochs", forms.LEADER_EPOCHS)
"""The epochs of the leaders under which partitions were read last."""
WRITERS_MODEL: Final = CheckpointEntry(b"\x00model", forms.WRITERS_MODEL)
"""The version of which tasks write to which stream."""
BOUNDED_TURN: Final = CheckpointEntry(b"\x00turn", forms.BOUNDED_TURN)
"""The turn of a batch app that continues, or was the last."""
STATE_SCHEMAS: Final = CheckpointEntry(b"\x00schemas", forms.STATE_SCHEMAS)
"""How the rows of each store are read."""
STORE_HISTORY: Final = CheckpointEntry(b"\x00stores", app_forms.STORE_HISTORY)
"""Where the stores of tasks lie, on which disks, and how far they are."""
IMPORTS: Final = CheckpointEntry(b"\x00imports", forms.IMPORTS)
"""Which tables were imported, in which version, and where their rows are."""
FENCE: Final = CheckpointEntry(b"\x00fence", forms.FENCE, outlives_reset=True)
"""The highest incarnation that a Kafka system was fenced with. The system hides it from its readers."""

READ_BARRIER: Final = b"\x00barrier"
"""The key of tombstones that say nothing: a reader who has come to one knows all that was before it."""

CHECKPOINT_ENTRIES: Final = (
    INCARNATION,
    OWNER,
    RESET,
    WRITERS,
    LAYOUT,
    START_POSITIONS,
    STREAM_IDENTITIES,
    LEADER_EPOCHS,
    WRITERS_MODEL,
    BOUNDED_TURN,
    STATE_SCHEMAS,
    STORE_HISTORY,
    IMPORTS,
    FENCE,
)
OUTLIVE_RESET: Final = frozenset(entry.key for entry in CHECKPOINT_ENTRIES if entry.outlives_reset)
"""The keys that stay when state is given up: who runs the app, and who may still write."""
