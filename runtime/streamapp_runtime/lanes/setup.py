"""What a worker has to know besides the program; the same for all workers of an incarnation."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp_runtime.lanes.custody import Shelf


@dataclass(frozen=True, slots=True)
class Setup:
    """Where things are and what they are called."""

    application_id: str
    run_id: str
    log: str  # the folder of the embedded system
    state: str  # the folder below which stores are kept
    checkpoints: str  # the stream of checkpoints: what fencing goes by
    partitions: Mapping[str, int]  # of every stream that is written
    shelves: Mapping[str, Shelf]
    on_bad_record: str = "fail"
    dead_letters: str | None = None  # the topic that takes bad records
    sync: bool = False
