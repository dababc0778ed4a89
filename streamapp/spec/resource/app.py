"""The StreamApp resource as a whole: the one class that CRD, reference page and Python programs come from."""

from typing import Annotated, Final, Literal

from pydantic import Field

from streamapp.spec.app_bounds import MOST_PROCESSORS, MOST_REVISIONS
from streamapp.spec.resource.base import Part
from streamapp.spec.resource.field_marks import Crd, Effect, named_list
from streamapp.spec.resource.operators import Operator
from streamapp.spec.resource.pods import Code, Driver, EnvVar, Executor, Network, PullSecret, RestartPolicy
from streamapp.spec.resource.runtime_policies import (
    Autoscale,
    BadRecords,
    Batch,
    CodeErrors,
    LateRows,
    Logging,
    Monitor,
    OutboxLimit,
    RunPage,
    StateQueryAccess,
)
from streamapp.spec.resource.state import Placement, State
from streamapp.spec.resource.streams import Stream
from streamapp.spec.resource.systems import System, home_system
from streamapp.spec.resource.tables import SideInput, Table, VersionSign
from streamapp.spec.value_types.partitioner_names import DEFAULT_PARTITIONER, PartitionerName
from streamapp.spec.value_types.scalars import (
    AppName,
    BroadcastInput,
    Grouper,
    Image,
    Name,
    ObjectName,
    ShortDuration,
    Text,
    Topic,
)

GROUP: Final = "streamapp.dev"
VERSION: Final = "v1alpha1"
API_VERSION: Final = "streamapp.dev/v1alpha1"
KIND: Final = "StreamApp"


class Metadata(Part):
    """The Kubernetes metadata that the offline commands look at; all else in it is left alone."""

    model_config = {"extra": "ignore"}

    name: Annotated[AppName, Effect.REFUSED]
    """The app's name in its namespace."""
    namespace: Annotated[ObjectName, Effect.REFUSED] = "default"
    """Its namespace."""
    labels: Annotated[dict[str, str], Effect.NONE] = {}
    """Its labels."""
    annotations: Annotated[dict[str, str], Effect.NONE] = {}
    """Its annotations."""


class Spec(Part):
    """The streams, tables and operators of an app, and how it is to run."""

    application_id: Annotated[Topic | None, Field(max_length=120), Effect.REFUSED] = None
    """Prefix of every derived topic, transactional id and state path; `<namespace>.<name>` when unset."""
    mode: Annotated[Literal["stream", "batch"], Effect.REPLAN] = "stream"
    """Whether the app runs for ever, or ends when every input has ended."""
    processors: Annotated[int, Field(ge=1, le=MOST_PROCESSORS), Effect.LIVE] = 1
    """How many processors run its tasks; `kubectl scale` changes it."""
    autoscale: Annotated[Autoscale | None, Effect.NONE] = None
    """Lets the operator set `processors` by the lag, or by how busy the app is; unset: it never does."""
    config: Annotated[dict[str, Text], Crd({"maxProperties": 64}), Effect.REPLAN] = {}
    """Settings that keep the names of the design documents; see the list of keys."""

    systems: Annotated[tuple[System, ...], Field(min_length=1), named_list(16), Effect.REPLAN]
    """Where streams live. The app reads from any of them and writes to any; one is its home."""
    streams: Annotated[tuple[Stream, ...], Field(min_length=1), named_list(256), Effect.REPLAN]
    """Inputs, outputs and side inputs."""
    tables: Annotated[tuple[Table, ...], named_list(64), Effect.REPLAN] = ()
    """Local and remote tables."""
    operators: Annotated[tuple[Operator, ...], Field(min_length=1), named_list(512), Effect.REPLAN]
    """The operations on the streams."""

    grouper: Annotated[Grouper, Effect.REFUSED] = "partition"
    """How partitions become tasks: one per number, per partition, one for all (on one processor), or own."""
    broadcast_inputs: Annotated[tuple[BroadcastInput, ...], Crd({"maxItems": 64}), Effect.REPLAN] = ()
    """Inputs that go to every task: `stream`, `stream#3` or `stream#[0-7]`."""
    placement: Annotated[Placement, Effect.LIVE] = Placement()
    """How tasks are given to processors."""
    state: Annotated[State, Effect.REFUSED] = State()
    """Where local state is kept."""
    on_partition_change: Annotated[Literal["restart", "live"], Effect.LIVE] = "live"
    """How added partitions of an input are applied: with a restart of the driver, or between two batches."""
    on_configuration_change: Annotated[Literal["report", "restart"], Effect.LIVE] = "report"
    """When a Secret or ConfigMap that the app names has changed: report it, or restart the driver."""
    partition_settle: Annotated[ShortDuration, Effect.LIVE] = "5m"
    """How long after a growth producers may still use the old count: their `metadata.max.age.ms`."""
    monitor: Annotated[Monitor, Effect.LIVE] = Monitor()
    """Watching for growth of inputs."""
    rebalance_delay: Annotated[ShortDuration, Effect.LIVE] = "30s"
    """How long a lost executor's tasks wait for a replacement on their location before they move."""

    delivery: Annotated[Literal["exactlyOnce", "atLeastOnce"], Effect.RESTART] = "exactlyOnce"
    """Whether outputs, state and positions are committed as one, or outputs may go before and be repeated."""
    on_bad_record: Annotated[BadRecords, Effect.RESTART] = BadRecords()
    """What becomes of records that cannot be read."""
    on_code_error: Annotated[CodeErrors, Effect.RESTART] = CodeErrors()
    """What becomes of records on which the app's own Python fails."""
    on_data_loss: Annotated[Literal["fail", "earliest"], Effect.RESTART] = "fail"
    """What to do when a stream no longer has records that were not yet read."""
    state_changes: Annotated[Literal["refuse", "accept"], Effect.LIVE] = "refuse"
    """What to do with an edit after which state would mean something else: other aggregates, another key."""
    late_rows: Annotated[LateRows, Effect.RESTART] = LateRows()
    """What becomes of rows that come too late."""
    outbox: Annotated[OutboxLimit, Effect.RESTART] = OutboxLimit()
    """The bound of rows for streams outside the home, which are delivered behind the batches."""
    batch: Annotated[Batch, Effect.LIVE] = Batch()
    """The bounds of one micro-batch."""

    page: Annotated[RunPage, Effect.RESTART] = RunPage()
    """The page of the running app, in the driver's pod."""
    state_queries: Annotated[StateQueryAccess, Effect.RESTART] = StateQueryAccess()
    """Queries of the state while the app runs, in the driver's pod."""
    logging: Annotated[Logging, Effect.RESTART] = Logging()
    """What driver and executors log, and in which format."""

    image: Annotated[Image | None, Effect.RESTART] = None
    """The runtime image; the installation's when unset."""
    image_pull_policy: Annotated[Literal["Always", "IfNotPresent", "Never"] | None, Effect.RESTART] = None
    """When the image is pulled."""
    image_pull_secrets: Annotated[tuple[PullSecret, ...], Crd({"maxItems": 16}), Effect.RESTART] = ()
    """Secrets for pulling it."""
    code: Annotated[Code | None, Effect.RESTART] = None
    """Python files in addition to those of the image."""
    env: Annotated[tuple[EnvVar, ...], named_list(128), Effect.RESTART] = ()
    """Environment variables of driver and executors."""
    service_account_name: Annotated[ObjectName | None, Effect.RESTART] = None
    """The driver's service account; one is made for the app when unset."""
    driver: Annotated[Driver, Effect.RESTART] = Driver()
    """The driver's pod."""
    executor: Annotated[Executor, Effect.RESTART] = Executor()
    """The executors' pods."""
    network: Annotated[Network, Effect.RESTART] = Network()
    """The network between these pods."""
    restart_policy: Annotated[RestartPolicy, Effect.LIVE] = RestartPolicy()
    """What happens when the driver ends."""
    suspend: Annotated[bool, Effect.LIVE] = False
    """Stop after the running batch and keep state and locality; false resumes."""
    restart_nonce: Annotated[int, Field(ge=0), Effect.RESTART] = 0
    """Raise it to restart the driver once."""
    reset_nonce: Annotated[int, Field(ge=0), Effect.REPLAN] = 0
    """Raise it to reset the app: drop state, checkpoints and layout. Starts a new run id."""
    take_over: Annotated[bool, Effect.LIVE] = False
    """Claim an application id that another owner holds."""
    ttl_seconds_after_finished: Annotated[int | None, Field(ge=0, le=315_360_000), Effect.LIVE] = None
    """How long the pods of an app that ended are kept; unset: as long as the app."""
    revision_history_limit: Annotated[int, Field(ge=0, le=MOST_REVISIONS), Effect.NONE] = 10
    """How many specs that ran before the present one are kept for `streamapp rollback`."""
    operator_class: Annotated[Name | None, Effect.REFUSED] = None
    """Which installation manages the app, where a cluster has several."""

    @property
    def home(self) -> System:
        """The system of what the app makes."""
        return home_system(self.systems)

    def partitioner_of(self, stream: str) -> PartitionerName:
        """The partitioner of a stream, be it declared or one that the app makes."""
        return next((one.partitioner for one in self.streams if one.name == stream), DEFAULT_PARTITIONER)

    def stream(self, name: str) -> Stream:
        """The declared stream of that name."""
        return next(stream for stream in self.streams if stream.name == name)

    def table(self, name: str) -> Table:
        """The declared table of that name."""
        return next(table for table in self.tables if table.name == name)

    def versions_of(self, side: SideInput) -> VersionSign:
        """The sign that ends a version of a side input; of a table that is refreshed its imports say it."""
        is_refreshed = any(one.refresh for one in self.streams if one.name == side.stream)
        return "import" if is_refreshed else side.versions

    def in_versions(self, table: Table) -> bool:
        """True if the rows of a table come as versions, each seen when it is whole."""
        return any(self.versions_of(side) != "none" for side in table.side_inputs)


class StreamApp(Part):
    """A stateful stream application."""

    api_version: Annotated[Literal["streamapp.dev/v1alpha1"], Effect.NONE] = API_VERSION
    """The version of this form."""
    kind: Annotated[Literal["StreamApp"], Effect.NONE] = KIND
    """The kind of resource."""
    metadata: Metadata
    """Its name and namespace."""
    spec: Spec
    """The streams, tables and operators of an app, and how it is to run."""

    @property
    def application_id(self) -> str:
        """The id that everything derived from the app begins with."""
        return self.spec.application_id or f"{self.metadata.namespace}.{self.metadata.name}"

    def intermediate_stream(self, operator: str) -> str:
        """The name of the stream that a partitionBy or broadcast of that name makes."""
        return f"{self.application_id}.{operator}"
