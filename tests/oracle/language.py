"""Paths of the resource's language: what the product takes, what random apps use, and what they leave out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from pydantic import BaseModel

from streamapp.spec.resource.app import Spec
from streamapp.spec.value_types import column_list
from streamapp.spec.value_types.format_names import FormatName
from tests.oracle.cases.case import Case
from tests.oracle.cases.resource_reading import columns_of

_BY_REASON: Final[Mapping[str, str]] = {
    "decides where and how pods run, and no row": (
        "applicationId autoscale config env executor driver image imagePullPolicy imagePullSecrets code "
        "network restartPolicy serviceAccountName suspend takeOver ttlSecondsAfterFinished "
        "revisionHistoryLimit operatorClass logging page stateQueries monitor onConfigurationChange "
        "restartNonce rebalanceDelay placement state systems.kafka systems.name systems.embedded "
        "systems.postgres systems.delta systems.iceberg systems.files systems.python "
        "processors"
    ),
    "the kit has no transactions of Kafka, loses no records, and has no time-outs": (
        "outbox delivery onDataLoss batch.bytes batch.interval batch.latency batch.timeout "
        "batch.independentLanes"
    ),
    "is of tables, which the kit has logs in place of": ("streams.primaryKey streams.refresh"),
    "resets, and edits that change the meaning of state, are for later": (
        "resetNonce stateChanges onPartitionChange partitionSettle"
    ),
    "task formation of one's own is for later": "broadcastInputs",
    "only a path of late or bad rows; the kit has streams of its own for them": (
        "lateRows onCodeError onBadRecord.stream onBadRecord.bound.window"
    ),
    "asks for a table that does not answer": (
        "tables.remote.options tables.remote.timeout tables.remote.rateLimit"
    ),
    "is Spark's, which takes seconds to start": "operators.flatMap.select",
    "asks for a clock that moves by itself": (
        "streams.eventTime.idleTimeout streams.eventTime.idleQuorum streams.eventTime.maxAhead "
        "operators.partitionBy.idleTimeout operators.partitionBy.idleQuorum operators.broadcast.idleTimeout "
        "operators.broadcast.idleQuorum"
    ),
    "rows cannot hold them, and apps that declare them are refused": "types.CHAR types.VARCHAR types.VARIANT",
    "for later": (
        "streams.metadata.keyWriterSchema.subject "
        "streams.start "
        "streams.carriesWatermarks streams.feedback "
        "tables.changelog"
    ),
}
NOT_GENERATED: Final = {path: reason for reason, paths in _BY_REASON.items() for path in paths.split()}
"""Each path that random apps do not use, and why; with all that is below it."""


def language() -> set[str]:
    """Every option of the resource, every format and every type that columns may have."""
    types = {column_list.SYNONYMS.get(kind, kind) for kind in column_list.SIMPLE}
    types |= {*column_list.PARAMETERS, *column_list.NESTED} - {"DEC", "NUMERIC"}
    formats = {f"formats.{name}" for name in get_args(FormatName)}
    return set(_options(Spec, "")) | formats | {f"types.{kind}" for kind in types}


def used(cases: Iterable[Case]) -> set[str]:
    """The same of what stands in cases."""
    paths: set[str] = set()
    for case in cases:
        paths |= set(_stated(case.spec, ""))
        for stream in case.spec["streams"]:
            paths.add(f"formats.{stream.get('format', 'json')}")
            if "columns" in stream:
                paths |= {f"types.{kind.split('(')[0].split('<')[0]}" for kind in columns_of(stream).values()}
    return paths


def is_left_out(path: str) -> bool:
    """Whether a path, or one above it, is listed."""
    parts = path.split(".")
    return any(".".join(parts[:length]) in NOT_GENERATED for length in range(1, len(parts) + 1))


def _options(model: type[BaseModel], before: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        path = f"{before}{field.alias or name}"
        below = next(_models(field.annotation), None)
        if below is None:
            yield path
        else:
            yield from _options(below, f"{path}.")


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _stated(value: Any, path: str) -> Iterator[str]:
    match value:
        case Mapping():
            for name, one in value.items():
                yield from _stated(one, f"{path}.{name}" if path else name)
        case list() | tuple():
            for one in value:
                yield from _stated(one, path)
        case _:
            yield path
