"""The setup of a worker besides the program; the same for all workers of an incarnation."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.tasks.key_placement import KeyPlacement
from streamapp.tasks.partition import Partition
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.lanes.delivery_guarantee import DeliveryGuarantee
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.records.dead_letters import SideOutputStream
from streamapp_runtime.lanes.records.rejection_policy import RejectionPolicy
from streamapp_runtime.lanes.task_stores.side_input_specs import SideInputStoreSpec
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.log_lines.python_logging import ProcessLogging
from streamapp_runtime.remote.remote_settings import RemoteSettings
from streamapp_runtime.secret_sources import NO_SECRETS, SecretSources
from streamapp_runtime.stores.directories.owned_stores import OwnedStores
from streamapp_runtime.systems.connection import SystemConnections


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """The names and places of a worker's streams and stores, and the app's settings for it."""

    application_id: str
    run_id: str
    systems: SystemConnections  # what the systems of its streams are reached by
    state: str  # the folder below which stores are kept
    checkpoints: str  # the stream of checkpoints: what fencing goes by
    partitions: Mapping[str, int]  # of every stream that is written
    store_specs: Mapping[str, StoreSpec]
    side_input_specs: Mapping[str, SideInputStoreSpec] = field(default_factory=dict)
    rejection: Mapping[RejectionCause, RejectionPolicy] = field(
        default_factory=lambda: dict.fromkeys(RejectionCause, RejectionPolicy())
    )
    remotes: Mapping[str, RemoteSettings] = field(default_factory=dict)
    owned: OwnedStores | None = None  # what the app owns of the stores on disk; None to manage none of them
    time: EventTimeSetup | None = None  # None where the app has nothing to do with event time
    late_rows: SideOutputStream | None = None  # what takes late rows
    delivery: DeliveryGuarantee = DeliveryGuarantee.EXACTLY_ONCE
    begins: Mapping[Partition, int] = field(default_factory=dict)  # of changelogs: what is before is no state
    format_options: Mapping[str, FormatOptions] = field(default_factory=dict)  # of streams that have any
    placements: Mapping[str, KeyPlacement] = field(default_factory=dict)  # by stream, where keys are divided
    show_values: bool = False  # whether samples of records that are left out have their content
    logging: ProcessLogging | None = None  # of a worker; None: Python's own
    secret_sources: SecretSources = NO_SECRETS  # whose values no worker writes into its output
