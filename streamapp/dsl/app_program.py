"""An app as a program, which collects parts and renders to the resource."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final, Literal

from streamapp.dsl.app_parts import AppParts, PythonCode, resource_fields
from streamapp.dsl.named_arguments import named_arguments
from streamapp.dsl.program_end import note_app
from streamapp.dsl.stream_flow import StreamHandle, TableHandle
from streamapp.spec.parser import ParseResult, parse_data
from streamapp.spec.problem import ReadableError
from streamapp.spec.resource.app import API_VERSION, KIND
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
from streamapp.spec.resource.streams import CsvSigns, EventTime, RecordMetadata, WriterSchema
from streamapp.spec.resource.systems import FileFormat, SchemaRegistry
from streamapp.spec.resource.tables import Remote, SideInput
from streamapp.spec.value_types.format_names import FormatName, TimestampForm

if TYPE_CHECKING:
    from streamapp.dsl.plan_view import PlanView


_GROUP: Final = "streamapp.notebook"


class RuntimeMissingError(ReadableError, ImportError):
    """No runtime is installed, or a module that it needs is not."""


def run_with_runtime(*arguments: Any, **options: Any) -> Any:
    """Call what runs apps; RuntimeMissingError says what to install."""
    install = 'pip install "streamapp[runtime]"'
    for entry in entry_points(group=_GROUP, name="run"):
        try:
            run = entry.load()
        except ModuleNotFoundError as error:
            raise RuntimeMissingError(f"running an app needs the module {error.name}: {install}") from None
        return run(*arguments, **options)
    raise RuntimeMissingError(f"running an app needs the runtime: {install}")


_METADATA = ("name", "namespace", "labels", "annotations")


@dataclass(frozen=True, slots=True)
class SystemHandle:
    """A system in which streams are declared."""

    parts: AppParts
    name: str

    @named_arguments
    def stream(
        self,
        name: str,
        *,
        topic: str | None = None,
        format: FormatName | None = None,
        columns: str | None = None,
        key: str | None = None,
        primary_key: Sequence[str] | None = None,
        partitions: int | None = None,
        refresh: str | None = None,
        metadata: RecordMetadata | None = None,
        keys: Literal["checked", "unchecked"] | None = None,
        partitioner: Literal["murmur2", "crc32"] | None = None,
        avro_schema: str | None = None,
        registry: bool | None = None,
        writer_schema: WriterSchema | None = None,
        timestamps: TimestampForm | None = None,
        strict: bool | None = None,
        decimals: Literal["text", "base64"] | None = None,
        flattened: bool | None = None,
        csv: CsvSigns | None = None,
        event_time: EventTime | None = None,
        start: Literal["earliest", "latest"] | None = None,
        after: str | None = None,
        carries_watermarks: bool | None = None,
        feedback: bool | None = None,
    ) -> StreamHandle:
        """Declare a stream of this system."""
        fields = resource_fields(locals())
        self.parts.streams.append({**fields, "system": self.name})
        return StreamHandle(self.parts, name)


class App:
    """A StreamApp being written.

    >>> app = App("hello")
    >>> log = app.embedded("main", path="./data")
    >>> log.stream("words", columns="word STRING").filter("long", where="length(word) > 8")
    ... # doctest: +ELLIPSIS
    Flow(...)
    """

    @named_arguments
    def __init__(
        self,
        name: str,
        *,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        application_id: str | None = None,
        mode: Literal["stream", "batch"] | None = None,
        processors: int | None = None,
        config: Mapping[str, PythonCode] | None = None,
        grouper: PythonCode | None = None,
        broadcast_inputs: Sequence[str] | None = None,
        placement: Placement | None = None,
        state: State | None = None,
        on_partition_change: Literal["restart", "live"] | None = None,
        on_configuration_change: Literal["report", "restart"] | None = None,
        partition_settle: str | None = None,
        monitor: Monitor | None = None,
        rebalance_delay: str | None = None,
        delivery: Literal["exactlyOnce", "atLeastOnce"] | None = None,
        on_bad_record: BadRecords | None = None,
        on_code_error: CodeErrors | None = None,
        on_data_loss: Literal["fail", "earliest"] | None = None,
        state_changes: Literal["refuse", "accept"] | None = None,
        late_rows: LateRows | None = None,
        outbox: OutboxLimit | None = None,
        batch: Batch | None = None,
        autoscale: Autoscale | None = None,
        page: RunPage | None = None,
        state_queries: StateQueryAccess | None = None,
        logging: Logging | None = None,
        image: str | None = None,
        image_pull_policy: Literal["Always", "IfNotPresent", "Never"] | None = None,
        image_pull_secrets: Sequence[PullSecret] | None = None,
        code: Code | None = None,
        env: Sequence[EnvVar] | None = None,
        service_account_name: str | None = None,
        driver: Driver | None = None,
        executor: Executor | None = None,
        network: Network | None = None,
        restart_policy: RestartPolicy | None = None,
        suspend: bool | None = None,
        restart_nonce: int | None = None,
        reset_nonce: int | None = None,
        take_over: bool | None = None,
        ttl_seconds_after_finished: int | None = None,
        revision_history_limit: int | None = None,
        operator_class: str | None = None,
    ) -> None:
        fields = resource_fields(locals())
        self.parts = AppParts()
        self.name = name
        self.is_used = False
        self._metadata = {field: fields.pop(field) for field in _METADATA if field in fields}
        self._fields = fields
        note_app(self)

    @named_arguments
    def kafka(
        self,
        name: str,
        *,
        bootstrap_servers: str,
        config_secret: str | None = None,
        config: Mapping[str, str] | None = None,
        schema_registry: SchemaRegistry | None = None,
        home: bool | None = None,
    ) -> SystemHandle:
        """Streams that are topics of a Kafka cluster; the secret is named."""
        return self._system("kafka", resource_fields(locals()))

    @named_arguments
    def embedded(
        self, name: str, *, path: str, sync: bool | None = None, home: bool | None = None
    ) -> SystemHandle:
        """Streams in a folder of this machine."""
        return self._system("embedded", resource_fields(locals()))

    @named_arguments
    def postgres(
        self,
        name: str,
        *,
        servers: str,
        database: str,
        config_secret: str | None = None,
        config: Mapping[str, str] | None = None,
        create_if_missing: bool | None = None,
        evolve: Literal["none", "add"] | None = None,
    ) -> SystemHandle:
        """Streams that are tables of a PostgreSQL database, written or read once; the secret is named."""
        return self._system("postgres", resource_fields(locals()))

    @named_arguments
    def delta(
        self,
        name: str,
        *,
        path: str,
        config_secret: str | None = None,
        config: Mapping[str, str] | None = None,
        create_if_missing: bool | None = None,
        evolve: Literal["none", "add"] | None = None,
        commit_interval: str | None = None,
    ) -> SystemHandle:
        """Streams that are Delta tables, written or read once; the secret is named."""
        return self._system("delta", resource_fields(locals()))

    @named_arguments
    def iceberg(
        self,
        name: str,
        *,
        namespace: str,
        catalog: str | None = None,
        config_secret: str | None = None,
        config: Mapping[str, str] | None = None,
        create_if_missing: bool | None = None,
        evolve: Literal["none", "add"] | None = None,
        commit_interval: str | None = None,
    ) -> SystemHandle:
        """Streams that are Iceberg tables, written or read once; the secret is named."""
        return self._system("iceberg", resource_fields(locals()))

    @named_arguments
    def python(
        self,
        name: str,
        *,
        sink: PythonCode,
        config_secret: str | None = None,
        config: Mapping[str, str] | None = None,
        create_if_missing: bool | None = None,
    ) -> SystemHandle:
        """Streams that are tables of a sink of the app's own, for `send_to`; the secret is named."""
        return self._system("python", resource_fields(locals()))

    @named_arguments
    def files(
        self,
        name: str,
        *,
        path: str,
        format: FileFormat,
        csv: CsvSigns | None = None,
        config_secret: str | None = None,
        config: Mapping[str, str] | None = None,
    ) -> SystemHandle:
        """Streams that are files below a path, which are only read; the secret is named."""
        return self._system("files", resource_fields(locals()))

    def _system(self, kind: str, fields: dict[str, Any]) -> SystemHandle:
        always: dict[str, Any] = {field: fields.pop(field) for field in ("name", "home") if field in fields}
        if "configSecret" in fields:
            fields["configSecret"] = {"name": fields["configSecret"]}
        self.parts.systems.append({**always, kind: fields})
        name: str = always["name"]
        return SystemHandle(self.parts, name)

    @named_arguments
    def table(
        self,
        name: str,
        *,
        store: Literal["rocksdb", "lmdb", "memory"] | None = None,
        columns: str | None = None,
        side_inputs: Sequence[SideInput] | None = None,
        broadcast: bool | None = None,
        remote: Remote | None = None,
        changelog: bool | None = None,
        max_store_age: str | None = None,
        visibility: Literal["nextBatch", "sameBatch"] | None = None,
    ) -> TableHandle:
        """Declare a table."""
        self.parts.tables.append(resource_fields(locals()))
        return TableHandle(name)

    def parsed(self) -> ParseResult:
        """The resource, or its problems with the paths of the resource."""
        self.is_used = True
        lists = {"systems": self.parts.systems, "streams": self.parts.streams}
        lists |= {"tables": self.parts.tables, "operators": self.parts.operators}
        spec = {**self._fields, **lists}
        return parse_data({"apiVersion": API_VERSION, "kind": KIND, "metadata": self._metadata, "spec": spec})

    @named_arguments
    def plan(self, *, partitions: int | Mapping[str, int] = 1) -> "PlanView":
        """The plan where streams have these partitions, all alike or by name; notebooks draw it."""
        from streamapp.dsl.plan_view import plan_view  # the drawing takes long to import

        return plan_view(self.name, self.parsed(), partitions)

    @named_arguments
    def run(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        until_end: bool = True,
        partitions: int | Mapping[str, int] = 1,
        processors: int = 1,
        progress: bool = True,
    ) -> Any:
        """Run the app in this process over these rows, and return its `NotebookRun`.

        `data` has rows by stream: dicts, or a table of Arrow, pandas or Polars. Streams that fill tables are
        read first. With `until_end` the app is closed once it has read everything, and its results are kept;
        else it stays open for `send` until `close`.
        """
        return run_with_runtime(
            self,
            data,
            until_end=until_end,
            partitions=partitions,
            processors=processors,
            progress=progress,
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """The display in Jupyter: the plan with one partition for each stream, or the problems of the app."""
        return self.plan()._repr_mimebundle_()
