"""Durable forms as version 1 wrote them: every later version has to read these bytes.

A new version adds its bytes beside these, which stay. Packed forms are compared by what is read from them:
another zlib may pack the same in other bytes.
"""

from streamapp.jobmodel.compact_codec import decode_model, encode_model
from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.task_model import TaskModel
from streamapp.protocol.driver_report import DriverState, ExecutorBinding, Report
from streamapp.protocol.report_codec import decode_report, encode_report
from streamapp.protocol.wanted_state import WantedState, decode_wanted, encode_wanted
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.layouts.layout_codec import decode_layout, encode_layout
from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import Partition
from streamapp_runtime.incarnation import Incarnation, decode_incarnation
from streamapp_runtime.stores.store import StoreMark
from streamapp_runtime.stores.store_mark import mark_from_bytes, mark_to_bytes

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
INCARNATION_1 = b'{"run": "run-1", "incarnation": 7}'
MARK = StoreMark("run-1", "Partition 0", "users", "schema", "3.7.0", 12, 1000, {"users#0": 4}, "")
MARK_1 = (
    b'{"attempt": "3.7.0", "changelog": 12, "form": 1, "positions": {"users#0": 4}, "run_id": "run-1", '
    b'"schema": "schema", "table": "users", "task": "Partition 0", "version": "", "written_ms": 1000}'
)


def test_a_layout_of_version_1_is_read_and_written() -> None:
    assert decode_layout(LAYOUT_1) == LAYOUT
    assert encode_layout(LAYOUT) == LAYOUT_1


def test_a_job_model_of_version_1_is_read() -> None:
    assert decode_model(MODEL_1) == MODEL
    assert decode_model(encode_model(MODEL)) == MODEL


def test_a_wanted_state_of_version_1_is_read() -> None:
    assert decode_wanted(WANTED_1) == WANTED
    assert decode_wanted(encode_wanted(WANTED)) == WANTED


def test_a_report_of_version_1_is_read() -> None:
    assert decode_report(REPORT_1) == REPORT
    assert decode_report(encode_report(REPORT)) == REPORT


def test_an_incarnation_of_version_1_is_read_and_written() -> None:
    assert decode_incarnation(INCARNATION_1) == Incarnation("run-1", 7)
    assert Incarnation("run-1", 7).encode() == INCARNATION_1


def test_the_mark_of_a_store_of_version_1_is_read_and_written() -> None:
    assert mark_from_bytes(MARK_1) == MARK
    assert mark_to_bytes(MARK) == MARK_1
