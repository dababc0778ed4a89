"""Durable forms as each version wrote them: every later version has to read these bytes.

A new version adds its bytes beside these, which stay. Packed forms are compared by what is read from them:
another zlib may pack the same in other bytes.
"""

import json
import tarfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest

from streamapp import durable_forms as app_forms
from streamapp.cli.documents.previous_answer import PreviousAnswer, parse_previous_answer
from streamapp.control.bookkeeping import Bookkeeping
from streamapp.control.bookkeeping_codec import decode_bookkeeping
from streamapp.control.control_message import ENDED, EndOfStream, UpstreamTask, Watermark
from streamapp.control.control_sender import LastSent
from streamapp.control.message_codec import decode_message, encode_message
from streamapp.control.upstream import UpstreamProgress
from streamapp.durable_forms import DurableForm
from streamapp.graph.graph_builder import build_graph
from streamapp.jobmodel.compact_codec import decode_model
from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.task_model import TaskModel
from streamapp.metadata.entries_codec import unpack_entries
from streamapp.metadata.locality_manager import unpack_locality
from streamapp.placement.locations.store_history import StoreHistory, StorePlace
from streamapp.plan.planner import plan
from streamapp.plan.render.json_document import render
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted, encode_accepted
from streamapp.protocol.driver_report import DriverState, ExecutorBinding, Report
from streamapp.protocol.packed_lists import text_to_bytes, unpack_rows
from streamapp.protocol.report_codec import decode_report
from streamapp.protocol.silent_driver import SILENT_DRIVER, SilentDriver, silent_driver_of
from streamapp.protocol.store_history_codec import unpack_store_history
from streamapp.protocol.termination import ExitCode, Termination, termination_of
from streamapp.protocol.wanted_state import WantedState, decode_wanted
from streamapp.side_inputs.side_input_version import SideInputVersion
from streamapp.spec.parser import parse, parse_data
from streamapp.spec.spec_revision import revised_app, revision_data
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.layouts.layout_codec import decode_layout, encode_layout
from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_operator import operator_durable_forms as operator_forms
from streamapp_operator.host_state.folder_mark import FolderMark, mark_text, read_mark_text
from streamapp_operator.reconciler.config_maps.accepted_generation import (
    DriverRefusal,
    read_refusal,
    refusal_text,
)
from streamapp_operator.reconciler.objects.app_revision import app_of_revision
from streamapp_operator.reconciler.pods.pod_shape import PodShape, read_pod_shape
from streamapp_runtime import checkpoint_entries as entries
from streamapp_runtime import runtime_durable_forms as forms
from streamapp_runtime.checkpoint import Checkpoint, EventTimeProgress
from streamapp_runtime.checkpoint_entries import CheckpointEntry
from streamapp_runtime.driver.checkpoints.ownership import Ownership, recorded_owner
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.driver.imports.imported_table import ImportedTable, parse_imports
from streamapp_runtime.driver.inputs.bounded_turns import BoundedTurn
from streamapp_runtime.incarnation import Incarnation, read_incarnation
from streamapp_runtime.lanes.protocol.executor_identity import location_of
from streamapp_runtime.lanes.tables_file import KnownTable, read_tables_file
from streamapp_runtime.operators.state.stored_entries import EntryKind, StoredEntries
from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.rows.row_encoder import encode
from streamapp_runtime.stores.directories.owned_stores import OwnedStores, read_owned_stores
from streamapp_runtime.stores.directories.state_directory import app_directory
from streamapp_runtime.stores.directories.store_lock import LockHolder, recorded_holder
from streamapp_runtime.stores.store import StoreKind, StoreMark
from streamapp_runtime.stores.store_mark import mark_from_bytes, mark_to_bytes
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.durable.golden_folders import (
    LATEST_VALUES,
    RECORD_HEADERS,
    RECORD_KEYS,
    RECORD_VALUES,
    STORE_ROWS,
)
from tests.harness.engine.opened_stores import held, mark, opened

GOLDEN = Path(__file__).parent / "golden"
STREAM = "shop.a.checkpoint"


@dataclass(frozen=True, slots=True)
class GoldenForm:
    """What a version of a form wrote, what it stands for, and how it is read today."""

    form: DurableForm
    version: int
    written: Any
    value: object
    read: Callable[[Any], object]
    write: Callable[[Any], object] | None = None  # of the present version, where equal values are equal bytes


STORES = StoreHistory(
    {
        "Partition 0": (StorePlace("node-a", 70, 1_800_000_090), StorePlace("node-b", 5, 1_800_000_000)),
        "Partition 1": (StorePlace("node-b", 70_000, 1_800_000_090),),
    }
)
TASKS = tuple(f"Partition {index}" for index in range(4))

LAYOUT = Layout(
    "run-1",
    "partition",
    {"views": StreamLayout(4, 8, 4, TASKS, (0, 1, 2, 3))},
    {task: index for index, task in enumerate(TASKS)},
    (),
    (Split("views", 4, 8, 12.5, KeyMovement.EXACT, (5, 6, 7, 8)),),
)
LAYOUT_1 = (
    '{"checksum":"e7bafae8f4060ab104a937c4c688bb71ed1f36ae871b9d6e350f161a6dd0949f","format":1,"layout":'
    '{"changelog":[[0,4,1]],"ends":{},"everywhere":[],"grouper":"partition","run":"run-1","splits":'
    '[{"after":8,"before":4,"offsets":[5,6,7,8],"parting":"exact","seen_at":12.5,"stream":"views"}],'
    '"streams":{"views":{"first":4,"folds":[[0,4,1]],"initial":4,"last":8,"owners":[[0,4,1]]}},'
    '"tasks":[["Partition ",0,4,""]]}}'
)
MODEL = JobModel.of(
    version=3,
    run_id="run-1",
    application_id="shop.a",
    tasks=[TaskModel(TASKS[index], (Partition("views", index),), index) for index in range(2)],
    processors={"processor-0": [TASKS[0]], "processor-1": [TASKS[1]]},
    broadcast=[Partition("rates", 0)],
)
MODEL_1 = (
    b"SAJM\x01\x00k\x00\x00\x00\x00\x00\x00\x00\xeb?\xe0\xd0W\xa9\xf4\xd0x\x9ccb@\x00Ff\x06& \xc5\n\xe320\x16"
    b"\x95\xe6\xe9\x1a\x16g\xe4\x17\xe8%2\x02E\xb8\xe02\x01\x89E%\x99%\x99\xf9y\nL\xc8\x0600\xa0r\x19\x19Q\xb8"
    b'\x84\xd5"l((\xcaON-.\xce/\xd2\xa5\x9e\rL\x10Q\x98,#\x8ag\xcb2S\xcb\x8b\xf1\xea\x07k@\xe8G\xd5^\x94X\x92Z'
    b"\x8c\xea\x18T\x1e\x00DC\x10\x97"
)
WANTED = WantedState("hash", 2, MODEL, LAYOUT, {"processor-0": "node-a"})
WANTED_1 = (
    '{"kind":"wanted","format":1,"specHash":"hash","processors":2,"version":3,"model":"U0FKTQEAawAAAAAAAADrP+DQV6n0'
    "0HicY2JAAEZmBiYgxQrjMjAWlebpGhZn5BfoJTICRbjgMgGJRSWZJZn5eQpMyAYwMKByGRlRuITVImwoKMpPTi0uzi/SpZ4NTBBRmCwj"
    'imfLMlPLi/HqB2tA6EfVXpRYklqM6hhUHgBEQxCX",'
    '"layout":"{\\"checksum\\":\\"e7bafae8f4060ab104a937c4c688bb71ed1f36ae871b9d6e350f161a6dd0949f\\",\\"format\\":1,'
    '\\"layout\\":{\\"changelog\\":[[0,4,1]],\\"ends\\":{},\\"everywhere\\":[],\\"grouper\\":\\"partition\\",'
    '\\"run\\":\\"run-1\\",\\"splits\\":[{\\"after\\":8,\\"before\\":4,\\"offsets\\":[5,6,7,8],\\"parting\\":'
    '\\"exact\\",\\"seen_at\\":12.5,\\"stream\\":\\"views\\"}],\\"streams\\":{\\"views\\":{\\"first\\":4,'
    '\\"folds\\":[[0,4,1]],\\"initial\\":4,\\"last\\":8,\\"owners\\":[[0,4,1]]}},'
    '\\"tasks\\":[[\\"Partition \\",0,4,\\"\\"]]}}",'
    '"locations":"U0FQQQEAOQAAAAAAAADi5vl50smwHXicY2RgYOBmgABGhoKi/OTU4uL8Il0DRgYEYGQA8f5DAYSHKofKY0ThscF5efkpqbqJ'
    'qOoBl84OjA=="}\n'
)
REPORT = Report(
    DriverState.RUNNING,
    "a-driver-1",
    7,
    "hash",
    2,
    "run-1",
    3,
    {"processor-0": ExecutorBinding("node-a", "1")},
)
REPORT_1 = (
    '{"kind":"report","format":1,"state":"running","driver":"a-driver-1","incarnation":7,"specHash":"hash",'
    '"generation":2,"runId":"run-1","modelVersion":3,"processors":1,"binding":"U0FQQQEAPgAAAAAAAADn6LpQPdmpqHicY2Rg'
    'YOBmgABGhoKi/OTU4uL8Il0DRgYEYGQA8f5DAYSHKofKY0ThscF5efkpqbqJhNQjeIaoSgENJg7F"}\n'
)
MARK = StoreMark("run-1", "Partition 0", "users", "schema", "3.7.0", 12, 1000, {"users#0": 4}, "")
MARK_1 = (
    b'{"attempt": "3.7.0", "changelog": 12, "form": 1, "positions": {"users#0": 4}, "run_id": "run-1", '
    b'"schema": "schema", "table": "users", "task": "Partition 0", "version": "", "written_ms": 1000}'
)


CHECKPOINT = Checkpoint(
    "run-1",
    "3.7.0",
    {Partition("views", 2): 91, Partition("users", 0): 4},
    {"users": 12},
    EventTimeProgress(2, {"views": 60_000}, {"by-user": LastSent(5, 60_000, 1_000)}, "", {"totals": 30_000}),
)
CHECKPOINT_1 = (
    b'{"format": 1, "run": "run-1", "attempt": "3.7.0", "positions": {"users#0": 4, "views#2": 91}, '
    b'"changelogs": {"users": 12}, "time": {"turn": 2, "watermarks": {"views": 60000}, '
    b'"sent": {"by-user": [5, 60000, 1000]}, "heard": "", "closed": {"totals": 30000}}}'
)
UPSTREAM = UpstreamTask("t", 2, "r", 3)
BOOKS = Bookkeeping(
    10_000,
    {
        Partition("int", 0): UpstreamProgress(
            0, run="r", model=1, tasks=3, reached={"t0": 5, "t1": ENDED}, heard={"t0": 0, "t1": 0}
        )
    },
)
BOOKS_1 = (
    "eJw1j7EOwjAMRP/lZg8tiCW/gjoE6kLUNEGJK5Cq/jt2oBms+M6+vGyYclm8wPWEW85zhdvQ+k4P4f3MkeGkrEwQX23geoWAOjoRMAyEsiZT"
    "UaDNyxcJEnKTNlQp7Bc4hKQ7Wkf+wFmwF9aXywyX1hgJNaQ7N6u+8szp0DW9qZEnObQljxwb8x/p3EgNzbB6o7r5qnEXDWB/f/KoZke2rp5/"
    "2Ozvi60Ou6q8BBEb3HaFYAXW275/Af7HWtc="
)
SIDE_VERSION = SideInputVersion(
    3, {Partition("rates", 0): frozenset({"t"})}, frozenset({Partition("rates", 1)})
)
LOCATIONS = {"processor-0": "node-a", "processor-1": None}
BINDINGS = {"processor-0": ("node-a", "1"), "processor-1": (None, "2")}
(APP,) = parse((GOLDEN / "app.yaml").read_text("utf-8")).apps
PLAN_DOCUMENT_1 = json.loads((GOLDEN / "plan-document-1.json").read_text("utf-8"))
GRAPH = build_graph(APP, {"views": 2, "copies": 2})
ANSWER_LAYOUT = Layout(
    "",
    "partition",
    {"views": StreamLayout(2, 2)},
    {task: index for index, task in enumerate(TASKS[:2])},
)
ACCEPTED = AcceptedApp(APP, 7, "5f2c")
ACCEPTED_1 = (
    '{"kind":"accepted","format":1,"app":{"apiVersion":"streamapp.dev/v1alpha1","kind":"StreamApp",'
    '"metadata":{"name":"totals","namespace":"shop"},"spec":{"systems":[{"name":"main","kafka":'
    '{"bootstrapServers":"kafka:9092"}}],"streams":[{"name":"views","system":"main","columns":'
    '"user STRING, n INT","key":"user"},{"name":"copies","system":"main","key":"user"}],"operators":'
    '[{"name":"copy","sendTo":{"from":"views","stream":"copies"}}]}},"hash":'
    '"51db9cf62bea6d2b02ffe84b6476658482004a66414b81ace5648ec853ca62cd","generation":7,"owner":"5f2c"}\n'
)
ROWS = pa.record_batch(
    {
        "user": ["ann", None],
        "n": pa.array([1, None], pa.int32()),
        "tags": pa.array([["a"], None], pa.list_(pa.string())),
    }
)
ROWS_1 = [
    b"\x01\x00\x01\x00\x00\x00\x03\x00\x00\x00\x0f\x00\x00\x00ann"
    b"\x01\x00\x00\x00\x07\x00\x00\x00\x01\x00\x01\x00\x00\x00a",
    b"\x01\x07" + 4 * b"\x00" + 4 * b"\x00" + b"\x04\x00\x00\x00" + 4 * b"\x00",
]
OWNED = OwnedStores("run-1", frozenset(TASKS[:1]), frozenset({"users"}), frozenset({"rates"}), embedded=False)
OWNED_1 = (
    '{"run_id": "run-1", "tasks": ["Partition 0"], "tables": ["users"], "shared": ["rates"], '
    '"embedded": false}'
)
HOLDER_1 = '{"owner": "shop.a", "pid": 7, "started": "12", "boot": "b", "namespace": "pid:[1]"}'
TABLES_2 = (
    '{"format": 2, "tables": {"totals": {"entries": "windows", "schemas": ["'
    "/////4AAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAEAAAAUAAAA"
    "EAAUAAgABgAHAAwAAAAQABAAAAAAAAECEAAAACAAAAAEAAAAAAAAAAYAAABzdW0obikAAAgADAAIAAcA"
    "CAAAAAAAAAFAAAAAAAAAAA=="
    '"], "spanMs": 60000, "store": "lmdb", "changelog": "shop.a.totals.changelog"}, '
    '"users": {"columns": "user STRING, tier INT", "store": "lmdb", "changelog": "shop.a.users.changelog"}}}'
)
TABLES_1 = (
    '{"users": {"store": "lmdb", "columns": "user STRING, tier INT", "changelog": "shop.a.users.changelog"}}'
)


def in_file(name: str, read: Callable[[Path], object]) -> Callable[[str], object]:
    """A reader of files, which is given the text of one."""

    def read_text(text: str) -> object:
        with TemporaryDirectory() as folder:
            file = app_directory(Path(folder), "shop.a") / name
            file.parent.mkdir(parents=True)
            file.write_text(text, "utf-8")
            return read(file)

    return read_text


def entry(entry: CheckpointEntry, written: bytes, value: object, read: Callable[[Any], object]) -> GoldenForm:
    """An entry of the checkpoint stream, and what makes a value of its document."""
    return GoldenForm(
        entry.form, 1, written, value, lambda text: entry.read({entry.key: text}, STREAM, read), None
    )


def values_of(key: CheckpointEntry, written: bytes) -> dict[bytes, bytes]:
    return {key.key: written}


REVISED: dict[str, Any] = {
    "apiVersion": "streamapp.dev/v1alpha1",
    "kind": "StreamApp",
    "spec": {
        "systems": [{"name": "main", "kafka": {"bootstrapServers": "kafka:9092"}}],
        "streams": [
            {"name": "views", "system": "main", "key": "user", "columns": "user STRING"},
            {"name": "seen", "system": "main", "key": "user"},
        ],
        "operators": [{"name": "out", "sendTo": {"from": "views", "stream": "seen"}}],
        "batch": {"rows": 500},
    },
}
GOLDEN_FORMS = [
    GoldenForm(app_forms.LAYOUT, 1, LAYOUT_1, LAYOUT, decode_layout, encode_layout),
    GoldenForm(app_forms.JOB_MODEL, 1, MODEL_1, MODEL, decode_model),
    GoldenForm(
        app_forms.PACKED_LIST,
        1,
        "U0FQQQEAQQAAAAAAAAABDX4UW/3Jl3icY2RgYOBigABGhoKi/OTU4uL8Il0mBgRgZGBA5TIyonDxqUWTZWPIy09J1U1EM48JohPZBCSuoRGa"
        "cgA/6Qba",
        BINDINGS,
        lambda text: unpack_rows(text, 2),
    ),
    GoldenForm(app_forms.MESSAGE, 1, WANTED_1, WANTED, decode_wanted),
    GoldenForm(app_forms.MESSAGE, 1, REPORT_1, REPORT, decode_report),
    GoldenForm(app_forms.MESSAGE, 1, ACCEPTED_1, ACCEPTED, decode_accepted, encode_accepted),
    GoldenForm(
        app_forms.TERMINATION,
        1,
        '{"outcome": "config", "reason": "InvalidSpec", "path": "spec.streams", "message": "no"}',
        Termination.of(ExitCode.CONFIG, "InvalidSpec", "spec.streams", "no"),
        lambda text: termination_of(1, text),
        Termination.text,
    ),
    GoldenForm(
        app_forms.METADATA_FILE,
        1,
        b"SAMD\x01\x00\x1a\x00\x00\x00\x00\x00\x00\x00\xb2Ny\xe2e\x94\xc9\xe2x\x9ccb```d\x80\x00 \x9d\x98\xc4"
        b"\xc4\x80\x00\x8c\x8c\x0c\x86\x00\x0eA\x00\xfd",
        {b"a": b"1", b"b": b""},
        unpack_entries,
    ),
    GoldenForm(
        app_forms.LOCALITY,
        1,
        b"SALO\x01\x006\x00\x00\x00\x00\x00\x00\x00\xbd\xe9\x13\xac\xd3\xdc^\x04x\x9ccd``\xe0b\x80\x00F\x86\x82"
        b'\xa2\xfc\xe4\xd4\xe2\xe2\xfc"]&\x06\x04`d`@\xe522\xa2p\xf1\xa9E\x93ec\xc8\xcbOI\xd5MD3\x0f\x00\n\x96\x06k',
        LOCATIONS,
        unpack_locality,
    ),
    GoldenForm(
        app_forms.STORE_HISTORY,
        1,
        b"SASH\x01\x00U\x00\x00\x00\x00\x00\x00\x00\x08\xa3\xb0<l\xf5.Gx\x9ccd``\xe0b\x80\x00F\x86\x80\xc4\xa2\x92"
        b"\xcc\x92\xcc\xfc<\x05&\x06\x04`d`@\xe522\xa2p\xb1\xa8\x85)`\x84\xc8\xb2!d\xf3\xf2SRu\x13\xc1d\x123\x9a"
        b"\xa9 >+\x94\xcf\xec\xc8\x90\xcd\xc0 \x08\x94\x00\xab\xba\xe4\x99\rV\x15\xc5\x10\x05\x00\xafl\x0bw",
        STORES,
        unpack_store_history,
    ),
    entry(
        entries.STORE_HISTORY,
        b'"U0FTSAEAVQAAAAAAAAAIo7A8bPUuR3icY2RgYOBigABGhoDEopLMksz8PAUmBgRgZGBA5TIyonCxqIUpYITIsiFk8/JTUnUTwWQSM5qp'
        b'ID4rlM/syJDNwCAIlACruuSZDVYVxRAFAK9sC3c="',
        STORES,
        lambda text: unpack_store_history(text_to_bytes(text)),
    ),
    GoldenForm(
        app_forms.CONTROL_MESSAGE,
        1,
        b'\x01{"version":1,"taskName":"t","taskCount":2,"runId":"r","modelVersion":3,"timestamp":5}',
        Watermark(UPSTREAM, 5),
        decode_message,
        encode_message,
    ),
    GoldenForm(
        app_forms.CONTROL_MESSAGE,
        1,
        b'\x02{"version":1,"taskName":"t","taskCount":2,"runId":"r","modelVersion":3,"stream":"int"}',
        EndOfStream(UPSTREAM, "int"),
        decode_message,
        encode_message,
    ),
    GoldenForm(app_forms.BOOKKEEPING, 1, BOOKS_1, BOOKS, decode_bookkeeping),
    GoldenForm(
        app_forms.SIDE_INPUT_VERSION,
        1,
        '{"number": 3, "said": {"rates#0": ["t"]}, "ended": ["rates#1"]}',
        SIDE_VERSION,
        SideInputVersion.parse,
        SideInputVersion.text,
    ),
    GoldenForm(  # read by programs of users; a field may be added, and none may change
        app_forms.PLAN_DOCUMENT,
        1,
        PLAN_DOCUMENT_1,
        PLAN_DOCUMENT_1,
        lambda document: document,
        lambda document: {name: json.loads(render("totals", GRAPH, plan(GRAPH)))[name] for name in document},
    ),
    GoldenForm(
        app_forms.ANSWER_DOCUMENT,
        1,
        (GOLDEN / "answer-1.json").read_text("utf-8"),
        PreviousAnswer(
            ANSWER_LAYOUT,
            {"Partition 0": "processor-0", "Partition 1": "processor-1"},
            {"processor-0": None, "processor-1": None},
        ),
        parse_previous_answer,
    ),
    GoldenForm(forms.CHECKPOINT, 1, CHECKPOINT_1, CHECKPOINT, Checkpoint.decode, Checkpoint.encode),
    GoldenForm(
        forms.INCARNATION,
        1,
        b'{"run": "run-1", "incarnation": 7}',
        Incarnation("run-1", 7),
        lambda written: read_incarnation(values_of(entries.INCARNATION, written), STREAM),
        Incarnation.encode,
    ),
    GoldenForm(
        forms.OWNER,
        1,
        b'{"app": "shop/a"}',
        "shop/a",
        lambda written: recorded_owner(values_of(entries.OWNER, written), STREAM),
        lambda app: Ownership(app).entry({}, STREAM)[entries.OWNER.key],
    ),
    GoldenForm(
        forms.RESET,
        1,
        b'{"owner": "5f2c", "nonce": 2}',
        [False, True],  # whether a start with this number, and with the next one, gives state up
        lambda written: [
            StateReset(nonce, "5f2c").due(values_of(entries.RESET, written), STREAM) for nonce in (2, 3)
        ],
        lambda _: StateReset(2, "5f2c").entry({})[entries.RESET.key],
    ),
    entry(entries.START_POSITIONS, b'{"views#1": 40}', {"views#1": 40}, dict),
    entry(entries.WRITERS, b'["processor-0"]', ["processor-0"], list),
    entry(entries.STREAM_IDENTITIES, b'{"page-views": "id-7"}', {"page-views": "id-7"}, dict),
    entry(entries.LEADER_EPOCHS, b'{"page-views#1": 4}', {"page-views#1": 4}, dict),
    entry(entries.WRITERS_MODEL, b'{"version": 2, "hash": "ab"}', {"version": 2, "hash": "ab"}, dict),
    entry(
        entries.BOUNDED_TURN,
        b'{"turn": 2, "ends": {"views#1": 40}, "over": true}',
        BoundedTurn(2, {Partition("views", 1): 40}, over=True),
        BoundedTurn.parse,
    ),
    entry(
        entries.STATE_SCHEMAS,
        b'{"stores": {"totals": {"schema": "ab", "declaration": "aggregate: {}"}}}',
        {"totals": {"schema": "ab", "declaration": "aggregate: {}"}},
        lambda document: document["stores"],
    ),
    entry(
        entries.IMPORTS,
        b'{"tables": {"views": {"source": "lake | views", "version": "3", "identity": "id-7", '
        b'"spans": [[5, 9], [0, 0]]}}}',
        {"views": ImportedTable("lake | views", "3", "id-7", (OffsetSpan(5, 9), OffsetSpan(0, 0)))},
        parse_imports,
    ),
    entry(entries.FENCE, b"7", 7, int),
    GoldenForm(
        forms.ROW,
        1,
        ROWS_1,
        ROWS.to_pylist(),
        lambda rows: decode(pa.array(rows, pa.binary()), ROWS.schema).to_pylist(),
        lambda rows: encode(pa.RecordBatch.from_pylist(rows, ROWS.schema), ROWS.schema).to_pylist(),
    ),
    GoldenForm(forms.STORE_MARK, 1, MARK_1, MARK, mark_from_bytes, mark_to_bytes),
    GoldenForm(
        forms.LOCK_HOLDER,
        1,
        HOLDER_1,
        LockHolder("shop.a", 7, "12", "b", "pid:[1]"),
        in_file("holder", lambda file: recorded_holder(file.parent)),
        lambda holder: json.dumps(asdict(holder)),
    ),
    GoldenForm(
        forms.OWNED_STORES,
        1,
        OWNED_1,
        OWNED,
        in_file("owned.json", lambda file: read_owned_stores(file.parents[1], "shop.a")),
    ),
    GoldenForm(
        forms.TABLES_FILE,
        1,
        TABLES_1,
        {
            "shop.a": (
                KnownTable(
                    "users", "lmdb", tuple(parse_columns("user STRING, tier INT")), "shop.a.users.changelog"
                ),
            )
        },
        in_file("tables.json", lambda file: read_tables_file(file.parents[1])),
    ),
    GoldenForm(
        forms.TABLES_FILE,
        2,
        TABLES_2,
        {
            "shop.a": (
                KnownTable(
                    "totals",
                    "lmdb",
                    (),
                    "shop.a.totals.changelog",
                    StoredEntries(EntryKind.WINDOWS, (pa.schema([("sum(n)", pa.int64())]),), 60_000),
                ),
                KnownTable(
                    "users", "lmdb", tuple(parse_columns("user STRING, tier INT")), "shop.a.users.changelog"
                ),
            )
        },
        in_file("tables.json", lambda file: read_tables_file(file.parents[1])),
    ),
    GoldenForm(
        forms.LOCATION_FILE, 1, "4f1a", "4f1a", in_file("location", lambda file: location_of(file.parent))
    ),
    GoldenForm(
        operator_forms.POD_SHAPE,
        1,
        {
            "driver.json": '{"format":1,"template":{"spec":{}}}',
            "executor.json": '{"spec":{}}',
            "spark.json": '{"spark.ui.enabled":"false"}',
        },
        PodShape({"spec": {}}, {"spec": {}}, {"spark.ui.enabled": "false"}),
        read_pod_shape,
        PodShape.files,
    ),
    GoldenForm(
        app_forms.SILENT_DRIVER,
        1,
        "views-driver-2/views-driver-3",
        SilentDriver("views-driver-2", "views-driver-3"),
        lambda text: silent_driver_of({SILENT_DRIVER: text}),
        SilentDriver.annotation,
    ),
    GoldenForm(
        operator_forms.DRIVER_REFUSAL,
        1,
        '{"reason": "InvalidSpec", "path": "spec", "message": "no"}',
        DriverRefusal("InvalidSpec", "spec", "no"),
        read_refusal,
        refusal_text,
    ),
    GoldenForm(
        operator_forms.APP_REVISION,
        1,
        REVISED,
        revised_app(parse_data({**REVISED, "metadata": {"name": "app"}}).apps[0]),
        lambda data: app_of_revision({"data": data}, {"metadata": {"name": "app", "namespace": "default"}}),
        revision_data,
    ),
    GoldenForm(
        operator_forms.FOLDER_MARK,
        1,
        '{"application_id": "views", "format": 1, "name": "shop", "namespace": "web", "uid": "4f-1a"}',
        FolderMark("web", "shop", "4f-1a", "views"),
        read_mark_text,
        mark_text,
    ),
]
IN_FOLDERS = {forms.EMBEDDED_LOG: ["embedded-log-1"], forms.STORE_FORM: ["lmdb-store-1", "rocksdb-store-1"]}
"""The forms that are whole folders, which are packed beside this file."""
EVERY_FORM = [*app_forms.DURABLE_FORMS, *forms.DURABLE_FORMS, *operator_forms.DURABLE_FORMS]


def identified(golden: GoldenForm) -> str:
    return f"{golden.form.name} {golden.version}"


@pytest.mark.parametrize("golden", GOLDEN_FORMS, ids=identified)
def test_what_a_version_wrote_is_read(golden: GoldenForm) -> None:
    assert golden.read(golden.written) == golden.value


@pytest.mark.parametrize(
    "golden", [g for g in GOLDEN_FORMS if g.write and g.version == g.form.version], ids=identified
)
def test_the_present_version_is_written_as_it_was(golden: GoldenForm) -> None:
    assert golden.write is not None
    assert golden.write(golden.value) == golden.written


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(GOLDEN / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name.rpartition("-")[0]


@pytest.mark.parametrize(
    ("name", "kind"), [("lmdb-store-1", StoreKind.LMDB), ("rocksdb-store-1", StoreKind.ROCKSDB)]
)
def test_a_store_of_version_1_is_read(tmp_path: Path, name: str, kind: StoreKind) -> None:
    with closing(opened(kind, unpacked(name, tmp_path))) as store:
        assert held(store) == STORE_ROWS
        assert store.mark == mark(3)


def test_an_embedded_log_of_version_1_is_read(tmp_path: Path) -> None:
    with closing(EmbeddedSystem(str(unpacked("embedded-log-1", tmp_path)))) as system:
        assert system.streams() == {"views": 2, "shop.checkpoint": 1}
        assert system.latest("shop.checkpoint") == LATEST_VALUES
        records = pa.Table.from_batches(system.read(TopicPartition("views", 1), 0, 3))
        assert records.column("key").to_pylist() == RECORD_KEYS
        assert records.column("value").to_pylist() == RECORD_VALUES
        (with_headers,) = system.read(TopicPartition("views", 0), 0, 1, headers=True)
        assert with_headers.column("headers").to_pylist() == [RECORD_HEADERS]


def test_every_version_of_every_form_has_its_bytes() -> None:
    versions = {(golden.form.name, golden.version) for golden in GOLDEN_FORMS}
    versions |= {
        (form.name, int(name.rpartition("-")[2])) for form, names in IN_FOLDERS.items() for name in names
    }
    wanted = {(form.name, version) for form in EVERY_FORM for version in range(1, form.version + 1)}
    assert wanted - versions == {(forms.UNSYNCED_FILE.name, 1)}  # compared as a whole, and never read
