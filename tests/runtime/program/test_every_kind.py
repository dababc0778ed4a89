"""Every kind of operator through every table of the runtime: compiled, described, and run."""

import pickle
from importlib import import_module
from inspect import isabstract
from pkgutil import walk_packages
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamapp.spec.resource.operator_kinds import OPERATOR_TRAITS, OperatorKind, StreamUse
from streamapp.spec.resource.operators import Operator
from streamapp_runtime import operators
from streamapp_runtime.lanes.batches.task_executor import task_executor
from streamapp_runtime.operators.kind_table import COMPILERS
from streamapp_runtime.operators.operation import Operation, RowOperation
from streamapp_runtime.operators.operation_table import RUNNERS, make_executor, state_schema_hash
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.program.program import PlacedOperation, Program
from tests.harness.engine.compiled_apps import app, compiled

CODE = "tests.harness.user_code.operator_code"
TABLE = {"name": "seen", "columns": "user STRING, page STRING, n INT, ts TIMESTAMP"}
FILL = {"name": "fill", "sendToTable": {"from": "views", "table": "seen"}}
BODIES: dict[OperatorKind, dict[str, Any]] = {
    OperatorKind.FILTER: {"where": "n > 0"},
    OperatorKind.MAP: {"python": f"{CODE}:shouted", "columns": "user STRING, page STRING"},
    OperatorKind.FLAT_MAP: {"select": "user, explode(split(page, '/')) AS part"},
    OperatorKind.MERGE: {"from": ["views", "same"]},
    OperatorKind.PARTITION_BY: {"key": "page"},
    OperatorKind.BROADCAST: {},
    OperatorKind.JOIN: {"from": ["views", "users"], "within": "1m", "select": "left.user, country"},
    OperatorKind.JOIN_TABLE: {"table": "seen"},
    OperatorKind.SEND_TO_TABLE: {"table": "seen"},
    OperatorKind.AGGREGATE: {"aggregates": "count(*) AS views"},
    OperatorKind.PROCESS: {"python": f"{CODE}:Visits", "columns": "user STRING", "tables": ["seen"]},
    OperatorKind.SEND_TO: {"stream": "out"},
}
"""What each kind says beside what it reads, which is `views` unless it says more."""


def app_with(kind: OperatorKind) -> Any:
    traits = OPERATOR_TRAITS[kind]
    steps = [{"name": "tested", str(kind): {"from": "views", **BODIES[kind]}}]
    if kind is OperatorKind.MERGE:
        steps.insert(0, {"name": "same", "filter": {"from": "views", "where": "n > 1"}})
    if traits.hands_on_rows:
        steps.append({"name": "sent", "sendTo": {"from": "tested", "stream": "out"}})
    if traits.reads_tables:
        steps.append(FILL)
    return app(*steps, tables=[TABLE] if traits.reads_tables or traits.writes_tables else None)


def operations_of(program: Program) -> list[PlacedOperation]:
    return [task for task in program.tasks if task.name.partition("/")[0] == "tested"]


def test_every_kind_is_walked_through_the_tables() -> None:
    assert BODIES.keys() == COMPILERS.keys() == {OperatorKind(kind) for kind in Operator.kinds()}


@pytest.mark.parametrize("kind", BODIES)
def test_what_a_kind_is_compiled_to_does_what_its_row_of_traits_says(
    spark: SparkSession, kind: OperatorKind
) -> None:
    program = compiled(spark, app_with(kind))
    assert isinstance(program, Program), program
    traits, tasks = OPERATOR_TRAITS[kind], operations_of(program)
    described = [task.operation for task in tasks]
    assert any(operation.own_state() == "tested" for operation in described) == traits.keeps_state
    named = {name for operation in described for name in operation.local_tables()}
    assert named == ({"seen"} if traits.reads_tables or traits.writes_tables else set())
    written = {operation.role for operation in described if isinstance(operation, Write)}
    assert (
        written
        == {
            StreamUse.WRITES: {StreamRole.OUTPUT},
            StreamUse.REPARTITIONS: {StreamRole.INTERMEDIATE},
            StreamUse.BROADCASTS: {StreamRole.BROADCAST},
            StreamUse.NONE: set(),
        }[traits.stream]
    )
    for task in tasks:
        assert pickle.loads(pickle.dumps(task.operation)) == task.operation  # noqa: S301 - our own bytes
        if not isinstance(task.operation, Read | Write):
            task_executor(task).close()


def descriptions() -> set[type[Operation]]:
    """Every class of operations that some module below `operators` defines."""
    modules = [
        import_module(found.name)
        for found in walk_packages(operators.__path__, "streamapp_runtime.operators.")
    ]
    classes = [value for module in modules for value in vars(module).values() if isinstance(value, type)]
    return {found for found in classes if issubclass(found, Operation)} - {Operation, RowOperation}


def test_every_operation_answers_all_questions_and_has_a_row_in_the_table_of_what_runs_it() -> None:
    assert not [found for found in descriptions() if isabstract(found)]
    assert RUNNERS.keys() == descriptions() - {Read, Write}


def test_what_may_keep_state_says_what_its_bytes_mean() -> None:
    keeping = {found for found in RUNNERS if not issubclass(found, RowOperation)}
    assert {found for found, runner in RUNNERS.items() if runner.state_form is not None} == keeping


class Unlisted(RowOperation):
    """An operation that no table has."""


class Keeping(Unlisted):
    """One that keeps state besides."""

    def own_state(self) -> str | None:
        return "unlisted"


def test_an_operation_without_a_row_is_an_error_and_no_silence() -> None:
    with pytest.raises(TypeError, match="nothing runs Unlisted"):
        make_executor(Unlisted(), [], None)
    with pytest.raises(TypeError, match="nothing runs Keeping"):
        state_schema_hash(Keeping(), [])
