import pickle
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamapp.graph.graph_builder import build_graph
from streamapp.plan.planner import plan
from streamapp.spec.parser import parse
from streamapp_runtime.program.compiler import compile_program
from streamapp_runtime.program.program import Program
from tests.harness.engine.program_text import program_text

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*/app.yaml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_every_example_compiles_and_can_be_pickled_and_shown(
    spark: SparkSession, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(path.parent)  # where its Python is
    (app,) = parse(path.read_text()).apps
    graph = build_graph(app, {stream.name: 8 for stream in app.spec.streams})
    program = compile_program(app, graph, plan(graph), spark.sparkContext)
    assert isinstance(program, Program)
    assert pickle.loads(pickle.dumps(program)) == program  # noqa: S301  # our own bytes
    text = program_text(program)
    for operator in app.spec.operators:
        assert operator.name in text
