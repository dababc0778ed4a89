"""OpenLineage events of a run: how it begins, goes on and ends, with the streams that it reads and writes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from openlineage.client import OpenLineageClient, set_producer
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    RunFacet,
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
from streamapp_runtime.driver.telemetry.column_lineage_facet import DatasetName, column_lineage_facet
from streamapp_runtime.driver.telemetry.export_outage import ExportOutage
from streamapp_runtime.driver.telemetry.lineage_delivery import EventRefusedError, LineageDelivery
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.program.column_lineage import column_lineage
from streamapp_runtime.redacted_output import redacted
from streamapp_runtime.systems.connection import Connection, EmbeddedConnection

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
    """Namespace and name of a stream, by OpenLineage's naming of Kafka topics and of local files."""
    if isinstance(connection, EmbeddedConnection):
        return "file", str(Path(connection.folder) / topic)
    return f"kafka://{connection.bootstrap_servers.split(',')[0].strip()}", topic


def _inputs(launch: Launch) -> Iterator[InputDataset]:
    """The streams that are read, each once: one may fill several tables."""
    topics: set[str] = set()
    for task in launch.program.python_tasks:
        read = task.operation
        if isinstance(read, Read) and read.role in _READ and read.topic not in topics:
            topics.add(read.topic)
            namespace, name = dataset_name(launch.context.storage.connection, read.topic)
            yield InputDataset(namespace, name, facets={"schema": _schema(read.columns)})


def _outputs(launch: Launch) -> Iterator[OutputDataset]:
    """The streams that are written, each once: several operators may write one."""
    connection = launch.context.storage.connection
    lineages = {one.stream: one for one in column_lineage(launch.program)}
    topics: set[str] = set()
    for task in launch.program.python_tasks:
        write = task.operation
        if isinstance(write, Write) and write.role is StreamRole.OUTPUT and write.topic not in topics:
            topics.add(write.topic)
            namespace, name = dataset_name(connection, write.topic)
            facets: dict[str, DatasetFacet] = {"schema": _schema(task.sources[0].columns)}
            if write.stream in lineages:
                facets["columnLineage"] = column_lineage_facet(
                    lineages[write.stream], lambda stream: dataset_name(connection, launch.topics[stream])
                )
            yield OutputDataset(namespace, name, facets=facets)


def _schema(columns: tuple[Column, ...]) -> schema_dataset.SchemaDatasetFacet:
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
