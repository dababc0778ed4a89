"""OpenLineage events of a run: how it begins, goes on and ends, with the streams that it reads and writes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Final, Generic, TypeVar

from openlineage.client import OpenLineageClient, set_producer
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    RunFacet,
    column_lineage_dataset,
    error_message_run,
    job_type_job,
    schema_dataset,
)
from openlineage.client.transport.http import HttpTransport
from openlineage.client.uuid import generate_new_uuid
from requests import HTTPError

from streamapp.protocol.termination import ExitCode, Termination
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.telemetry.export_outage import ExportOutage
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.program.column_lineage import Origin, OutputLineage, column_lineage
from streamapp_runtime.redacted_output import redacted
from streamapp_runtime.systems.connection import (
    Connection,
    DeltaConnection,
    EmbeddedConnection,
    FilesConnection,
    IcebergConnection,
    KafkaConnection,
    PostgresConnection,
    PythonConnection,
)

MOST_PENDING: Final = 100
RETRY_SECONDS: Final = 5.0

E = TypeVar("E")


class EventRefusedError(Exception):
    """The receiver answered, and will not take this event when it is sent again either."""


class LineageDelivery(Generic[E]):
    """A bounded queue of events. One that is not taken is sent again until it is, or until the end."""

    def __init__(self, send: Callable[[E], None], outage: ExportOutage) -> None:
        self._send, self._outage = send, outage
        self._pending: Queue[E | None] = Queue(MOST_PENDING)
        self._closing = Event()
        self._worker = Thread(target=self._work, name="lineage", daemon=True)
        self._worker.start()

    def offer(self, event: E) -> None:
        """Have an event sent; where too many wait, it is lost."""
        try:
            self._pending.put_nowait(event)
        except Full:
            self._outage.failed("too many events wait", lost=1)

    def close(self, seconds: float) -> None:
        """Send what waits, for at most so long."""
        self._closing.set()
        try:
            self._pending.put_nowait(None)
        except Full:
            return  # the receiver has not answered for a hundred events
        self._worker.join(seconds)
        if self._worker.is_alive():
            self._outage.failed("it does not answer")

    def _work(self) -> None:
        while (event := self._pending.get()) is not None:
            while not self._taken(event):
                if self._closing.is_set():
                    return
                self._closing.wait(RETRY_SECONDS)

    def _taken(self, event: E) -> bool:
        """True if nothing is left to do for an event."""
        try:
            self._send(event)
        except EventRefusedError as refusal:
            self._outage.failed(str(refusal), lost=1)
            return True
        except Exception as error:  # whatever a client or its receiver does, the app continues
            self._outage.failed(type(error).__name__)
            return False
        self._outage.delivered()
        return True


DatasetName = tuple[str, str]
"""Namespace and name of a dataset."""
_UNREAD: Final = "may be read by the Python code"


def column_lineage_facet(
    lineage: OutputLineage, dataset_of: Callable[[str], DatasetName]
) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    """The facet; `dataset_of` names the dataset of an input stream."""
    fields = {
        column: column_lineage_dataset.Fields(_input_fields(origins, dataset_of))
        for column, origins in lineage.columns.items()
    }
    return column_lineage_dataset.ColumnLineageDatasetFacet(fields, _input_fields(lineage.rows, dataset_of))


def _input_fields(
    origins: Iterable[Origin], dataset_of: Callable[[str], DatasetName]
) -> list[column_lineage_dataset.InputField]:
    """Each column once, with all that it is to what is made of it."""
    by_column = groupby(sorted(origins), key=lambda origin: (origin.stream, origin.column))
    return [
        column_lineage_dataset.InputField(*dataset_of(stream), column, [_transformation(o) for o in uses])
        for (stream, column), uses in by_column
    ]


def _transformation(origin: Origin) -> column_lineage_dataset.Transformation:
    return column_lineage_dataset.Transformation(
        "DIRECT" if origin.use.is_direct else "INDIRECT",
        origin.use.value,
        f"{_UNREAD} {origin.python}" if origin.python else None,
    )


PRODUCER: Final = "https://streamapp.dev"
URL: Final = "OPENLINEAGE_URL"
NAMESPACE: Final = "OPENLINEAGE_NAMESPACE"
_READ: Final = frozenset({StreamRole.INPUT, StreamRole.SIDE_INPUT})


@dataclass(slots=True)
class RunLineage:
    """The events of one run, which are sent by a thread of their own."""

    app: StreamApp
    environment: Mapping[str, str]
    warn: Callable[[str], None]
    run_id: str = field(default_factory=lambda: str(generate_new_uuid()))
    _inputs: list[InputDataset] = field(default_factory=list)
    _outputs: list[OutputDataset] = field(default_factory=list)
    _delivery: LineageDelivery[RunEvent] = field(init=False)

    def __post_init__(self) -> None:
        set_producer(PRODUCER)
        client = OpenLineageClient()
        if isinstance(client.transport, HttpTransport):
            client.transport.config.retry = {"total": 0}  # an event is sent again by whoever has it
        outage = ExportOutage("lineage events", self.environment[URL], self.warn)
        self._delivery = LineageDelivery(lambda event: _send(client, event), outage)

    def launched(self, launch: Launch) -> None:
        """Tell that the run begins, and its datasets."""
        self._take_datasets(launch)
        self._emit(RunState.START)

    def changed(self, launch: Launch) -> None:
        """Tell that the run continues by another model or another generation of the app."""
        self._take_datasets(launch)
        self._emit(RunState.RUNNING)

    def ended(self, ending: Termination, *, stopped: bool, seconds: float) -> None:
        """Tell how the run ended, and wait until it is told, but no longer than so long."""
        if ending.code != ExitCode.DONE:
            message = redacted(ending.message or ending.reason or "the run failed")
            self._emit(RunState.FAIL, errorMessage=error_message_run.ErrorMessageRunFacet(message, "python"))
        else:
            self._emit(RunState.ABORT if stopped else RunState.COMPLETE)
        self._delivery.close(seconds)

    def _take_datasets(self, launch: Launch) -> None:
        self.app = launch.app
        self._inputs, self._outputs = list(_inputs(launch)), list(_outputs(launch))

    def _emit(self, state: RunState, **run_facets: RunFacet) -> None:
        job_type = job_type_job.JobTypeJobFacet(
            processingType="BATCH" if self.app.spec.mode == "batch" else "STREAMING",
            integration="STREAMAPP",
            jobType="APPLICATION",
        )
        namespace = self.environment.get(NAMESPACE) or "default"
        event = RunEvent(
            eventTime=datetime.now(UTC).isoformat(),
            run=Run(self.run_id, run_facets),
            job=Job(namespace, self.app.application_id, {"jobType": job_type}),
            eventType=state,
            inputs=self._inputs,
            outputs=self._outputs,
        )
        self._delivery.offer(event)


def dataset_name(connection: Connection, topic: str) -> DatasetName:
    """Namespace and name of a stream, by OpenLineage's naming of topics, tables and files."""
    match connection:
        case EmbeddedConnection():
            named = "file", str(Path(connection.folder) / topic)
        case DeltaConnection() | FilesConnection():
            store, slashes, path = connection.path.rpartition("://")
            bucket, _, folder = path.partition("/")
            named = (
                (f"{store}://{bucket}", f"{folder.strip('/')}/{topic}".lstrip("/"))
                if slashes
                else ("file", str(Path(connection.path) / topic))
            )
        case PostgresConnection():
            table = topic if "." in topic else f"public.{topic}"
            server = connection.servers.split(",")[0].strip()
            named = f"postgres://{server}", f"{connection.database}.{table}"
        case IcebergConnection():
            named = f"iceberg://{connection.catalog}", f"{connection.namespace}.{topic}"
        case PythonConnection():
            named = f"python://{connection.sink}", topic
        case KafkaConnection():
            named = f"kafka://{connection.bootstrap_servers.split(',')[0].strip()}", topic
    return named


def _dataset(launch: Launch, stream: str) -> DatasetName:
    connections = launch.context.storage.systems
    location = connections.imports.get(stream) or connections.location(stream)
    return dataset_name(connections.by_name[location.system], location.topic)


def _inputs(launch: Launch) -> Iterator[InputDataset]:
    """The streams that are read, each once: one may fill several tables."""
    streams: set[str] = set()
    for task in launch.program.tasks:
        read = task.operation
        if isinstance(read, Read) and read.role in _READ and read.stream not in streams:
            streams.add(read.stream)
            namespace, name = _dataset(launch, read.stream)
            yield InputDataset(namespace, name, facets={"schema": _schema(read.columns)})


def _outputs(launch: Launch) -> Iterator[OutputDataset]:
    """The streams that are written, each once: several operators may write one."""
    lineages = {one.stream: one for one in column_lineage(launch.program)}
    streams: set[str] = set()
    for task in launch.program.tasks:
        write = task.operation
        if isinstance(write, Write) and write.role is StreamRole.OUTPUT and write.stream not in streams:
            streams.add(write.stream)
            namespace, name = _dataset(launch, write.stream)
            facets: dict[str, DatasetFacet] = {
                "schema": _schema(write.value_columns(task.sources[0].columns))
            }
            if write.stream in lineages:
                facets["columnLineage"] = column_lineage_facet(
                    lineages[write.stream], partial(_dataset, launch)
                )
            yield OutputDataset(namespace, name, facets=facets)


def _schema(columns: Sequence[Column]) -> schema_dataset.SchemaDatasetFacet:
    return schema_dataset.SchemaDatasetFacet(
        [
            schema_dataset.SchemaDatasetFacetFields(column.name, column.type, ordinal_position=number)
            for number, column in enumerate(columns, 1)
        ]
    )


def _send(client: OpenLineageClient, event: RunEvent) -> None:
    """Send an event; EventRefusedError where it is no use to send it again."""
    try:
        client.emit(event)
    except HTTPError as error:
        status = 0 if error.response is None else error.response.status_code
        if 400 <= status < 500 and status not in {408, 429}:
            raise EventRefusedError(f"HTTP status {status}") from error
        raise
