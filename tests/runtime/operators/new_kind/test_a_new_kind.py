"""A kind of operator that the product does not have, added by the recipe to a copy of it."""

import json
from pathlib import Path

import pytest

from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.systems.connection import open_system
from tests.harness.runs.app_runs import Input, read_all, write_all
from tests.harness.runs.run_process import COMMAND
from tests.runtime.operators.new_kind.recipe import (
    COLUMNS,
    COMPILER,
    EVERY_ADDITION,
    KIND,
    MEANING,
    MODEL,
    TRAITS,
    Addition,
    add,
    copy_product,
    python,
)

PROGRAM = """
from streamapp.dsl import App

app = App("once", mode="batch")
main = app.embedded("main", path="data")
visits = main.stream("visits", key="user", columns="user STRING, n INT")
visits.dedupe("first").send_to("sent", main.stream("out", key="user"))
"""
TABLES = (
    "streamapp_runtime.operators.kind_table",
    "streamapp.author.state_meaning",
    "streamapp.columns.kind_columns",
)
IMPORT = f"import {', '.join(TABLES)}"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The product, and a room that nothing knows."""
    copy_product(tmp_path / "product")
    return tmp_path / "product"


@pytest.mark.usefixtures("process")
def test_a_kind_is_a_model_a_row_of_traits_a_method_a_room_and_its_rows_in_tables(
    copy: Path, tmp_path: Path
) -> None:
    add(copy, *EVERY_ADDITION)
    (copy / "app.py").write_text(PROGRAM, "utf-8")
    users = [f"u{n % (7 if n < 40 else 9)}" for n in range(80)]
    visits = [Input(user, {"user": user, "n": n}) for n, user in enumerate(users)]
    system = open_system(embedded_storage(tmp_path / "data").systems.of_home)
    try:
        write_all(system, "visits", visits, 3, "tests")
        run = python(
            copy,
            *(str(COMMAND), "run", "app.py", "--data", str(tmp_path / "data")),
            *("--until-end", "--processors", "1", "--batch-rows", "11"),
        )
        assert run.returncode == 0, run.stderr
        sent = sorted(record.value["n"] for record in read_all(system, "out"))
    finally:
        system.close()
    assert sent == [*range(7), 43, 44]


@pytest.mark.usefixtures("process")
def test_its_operator_groups_keys_and_makes_tasks_stateful_by_its_row_alone(copy: Path) -> None:
    add(copy, *EVERY_ADDITION)
    (copy / "app.py").write_text(
        PROGRAM
        + """
from streamapp.author.task_inputs import keeps_state
from streamapp.graph.graph_builder import build_graph
from streamapp.graph.join_groups import join_groups

(parsed,) = app.parsed().apps
graph = build_graph(parsed, {"visits": 3, "out": 3})
print(json.dumps([keeps_state(parsed, graph), join_groups(graph).members("first")]))
""".replace("\nfrom", "\nimport json\nfrom", 1),
        "utf-8",
    )
    run = python(copy, "app.py")
    assert json.loads(run.stdout) == [True, ["visits"]], run.stderr


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("additions", "told"),
    [
        (MODEL, "OperatorKind and the kinds of operators differ in dedupe"),
        ((*MODEL, KIND), "OPERATOR_TRAITS and the kinds of operators differ in dedupe"),
        ((KIND, TRAITS), "OperatorKind and the kinds of operators differ in dedupe"),
        ((*MODEL, KIND, TRAITS), "COMPILERS and the kinds of operators differ in dedupe"),
        (
            (*MODEL, KIND, TRAITS, MEANING, *COMPILER),
            "KIND_COLUMNS and the kinds of operators differ in dedupe",
        ),
        (
            (*MODEL, KIND, TRAITS, COLUMNS, *COMPILER),
            "STATE_ASPECTS and the kinds of operators differ in dedupe",
        ),
    ],
)
def test_a_kind_that_one_table_lacks_is_an_error_at_import(
    copy: Path, additions: tuple[Addition, ...], told: str
) -> None:
    add(copy, *additions)
    run = python(copy, "-c", IMPORT)
    assert run.returncode == 1
    assert told in run.stderr


@pytest.mark.usefixtures("process")
def test_with_its_row_in_each_table_the_import_goes_through(copy: Path) -> None:
    add(copy, *MODEL, KIND, TRAITS, MEANING, COLUMNS, *COMPILER)
    run = python(copy, "-c", IMPORT)
    assert run.returncode == 0, run.stderr
