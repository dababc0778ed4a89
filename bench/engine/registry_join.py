"""Page views joined with users, the views as JSON, and as Avro and Protobuf under a schema registry.

The join is that of `engine.join`, over the same views again and again. Each format runs several times, by
turns, and the best of its runs counts: what else the machine does takes from each.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyarrow as pa

from bench.app_runs import page_views
from bench.app_runs.apps import JOIN
from bench.app_runs.runs import run_app
from bench.row import Aim, Compared, Row
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.stream_format import REGISTERED_KINDS, open_format
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.kafka.schema_server import schema_server

BLOCKS = 40  # of 50,000 views
BATCH = 500_000
WARM = 2  # batches
TURNS = 3
COLUMNS = "user STRING, page STRING, ts TIMESTAMP"
SCHEMA_ID: Final = 7
AIMS: Final = {"json": None, "avro": Aim(most=1.5), "protobuf": Aim(most=1.3)}
"""The CPU that a row may take, of what it takes in JSON."""


def rows() -> Iterator[Row]:
    """The rate of each format, and the CPU of a row beside that of JSON."""
    rates = dict.fromkeys(AIMS, 0.0)
    for _ in range(TURNS):
        for name in AIMS:
            rates[name] = max(rates[name], _rate(name))
    for name, aim in AIMS.items():
        compared = None if name == "json" else Compared("json", rates["json"])
        yield Row(f"{name}, best of {TURNS}", rates[name], "rows/CPU s", compared=compared)
        if aim is not None:
            yield Row(f"  CPU of a row of {name} by that of JSON", rates["json"] / rates[name], "x", aim)


def _rate(name: str) -> float:
    """Rows for each CPU second of a run."""
    with tempfile.TemporaryDirectory() as folder, schema_server() as registry:
        data, app = Path(folder) / "data", JOIN
        block = next(page_views.views(page_views.BLOCK))
        wanted = BLOCKS * page_views.real(iter([block]))
        if name != "json":
            text, values = registered_views(name, block.column("value"), SCHEMA_ID)
            kind = REGISTERED_KINDS[name].name
            registry.ids[str(SCHEMA_ID)] = {"schema": text, "schemaType": kind}
            block = block.set_column(1, "value", values)
            app = of_registry(name, "none:9092", registry.url)
        log = EmbeddedSystem(data)
        page_views.to_log(log, "users", page_views.users())
        page_views.to_log(log, "views", iter([block] * BLOCKS))
        log.create("enriched", page_views.PARTITIONS)
        log.close()
        run = run_app(app, data, rows=BATCH, logs=True)
        if run.rows_out != wanted:
            raise AssertionError(f"{run.rows_out:,} rows came out of the join of {name}, {wanted:,} should")
        return run.steady(WARM)


def registered_views(name: str, values: pa.BinaryArray, schema_id: int) -> tuple[str, pa.BinaryArray]:
    """A schema of the views, and the same views in its format, behind the frame."""
    plain = open_format("json", parse_columns(COLUMNS))
    text = REGISTERED_KINDS[name].own_schema(plain.schema)
    options = FormatOptions(registry=True, writer=ResolvedWriterSchema(schema_id, text))
    return text, open_format(name, parse_columns(COLUMNS), options).encode(plain.decode(values).columns)


def of_registry(name: str, brokers: str, url: str) -> str:
    """The join, in a cluster that has a registry; a run may have a log in its place."""
    kafka = f'kafka: {{bootstrapServers: "{brokers}", schemaRegistry: {{url: "{url}"}}}}'
    app = JOIN.replace("embedded: {path: data}", kafka)
    return app.replace("name: views,", f"name: views, format: {name}, registry: true,", 1)
