"""What a worker has to know besides the program; the same for all workers of an incarnation."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.tasks.partition import Partition
from streamapp_runtime.lanes.adjunct_shelf import AdjunctShelf
from streamapp_runtime.lanes.custody import Shelf
from streamapp_runtime.lanes.dead_letters import DeadLetters
from streamapp_runtime.lanes.delivery import Delivery
from streamapp_runtime.lanes.timekeeping import Timekeeping
from streamapp_runtime.remote.settings import RemoteSettings
from streamapp_runtime.stores.directories.owned_stores import OwnedStores
from streamapp_runtime.systems.connection import Connection


@dataclass(frozen=True, slots=True)
class Setup:
    """Where things are and what they are called."""

    application_id: str
    run_id: str
    connection: Connection  # what the system of all streams is reached by
    state: str  # the folder below which stores are kept
    checkpoints: str  # the stream of checkpoints: what fencing goes by
    partitions: Mapping[str, int]  # of every stream that is written
    shelves: Mapping[str, Shelf]
    adjuncts: Mapping[str, AdjunctShelf] = field(default_factory=dict)
    on_bad_record: str = "fail"
    dead_letters: DeadLetters | None = None  # what takes bad records
    remotes: Mapping[str, RemoteSettings] = field(default_factory=dict)
    owned: OwnedStores | None = (
        None  # what the app owns of the stores on disk; None to look after none of them
    )
    time: Timekeeping | None = None  # None where the app has nothing to do with event time
    late_rows: DeadLetters | None = None  # what takes late rows
    delivery: Delivery = Delivery.AS_ONE
    begins: Mapping[Partition, int] = field(default_factory=dict)  # of changelogs: what is before is no state
    avro: Mapping[str, str] = field(default_factory=dict)  # the schemas that streams bring
