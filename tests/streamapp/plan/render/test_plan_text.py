import re

from hypothesis import given

from streamapp.graph.nodes import Graph, TableNode
from streamapp.plan.planner import plan
from streamapp.plan.render.terminal import plan_text
from tests.harness.graphs.conflicting_joins import eight_and_six
from tests.harness.graphs.graph_drawing import drawn, join, join_table, maps, merge, reads, repartition, sends
from tests.harness.graphs.random_apps import apps
from tests.harness.graphs.wild_graphs import wild_graphs

_ESCAPE = re.compile("\x1b\\[[0-9;]*m")

ACCEPTED = """\
page-views  ✓ accepted
stream mode · 4 operators · 4 streams · 1 table · 1 join group

Streams
  name      partitions  role          system  source
  by-user'           8  intermediate  -       imposed by joined, where it meets users
  enriched           8  output        main    from system main
  users              8  side input    main    from system main
  views              8  input         main    from system main

Graph
  stage 1
    views                        8
    └ map real                   8
      └ partitionBy by-user      8  → by-user' (8)
  stage 2
    by-user'                     8
    └ joinTable joined           8  ✓ 2 streams of 8  table users (8)
      └ sendTo out               8  → enriched (8)
    users                        8  → table users
"""

REJECTED = """\
page-views  ✗ rejected, 1 error
stream mode · 3 operators · 3 streams · 1 table · 1 join group

Streams
  name      partitions  role        system  source
  enriched           8  output      main    from system main
  users              6  side input  main    from system main
  views              8  input       main    from system main

Graph
  stage 1
    users                     6  → table users
    views                     8
    └ map real                8
      └ joinTable joined      8  ✗ partition counts differ  table users (6)
        │ ✗ 6 partitions: users
        │ ✗ 8 partitions: views
        └ sendTo out          8  → enriched (8)

Errors
  ✗ JoinPartitionMismatch  joined
    joinTable joined on table users needs streams of one partition count, but users has 6; views has
    8
    → repartition views with partitionBy before joined; or make table users broadcast, so that its
      side inputs constrain nothing
"""

SEVERAL_INPUTS = """\
    a                 8
    └ map m           8
      └ map n         8
    b                 8
    └ merge both      8  with m
      └ join j        8  ✓ 2 streams of 8  with n
"""


def shown(graph: Graph) -> str:
    return plan_text.render("page-views", graph, plan(graph))


def test_an_accepted_plan_reads_from_its_inputs_to_its_outputs() -> None:
    graph = drawn(
        reads("views"),
        maps("real", "views"),
        repartition("by-user", "real"),
        join_table("joined", "by-user", "users"),
        sends("out", "joined", "enriched"),
        tables=(TableNode("users", side_inputs=("users",)),),
    )
    assert shown(graph) == ACCEPTED


def test_a_rejected_join_is_marked_and_its_streams_stand_below_it_by_count() -> None:
    assert shown(eight_and_six()) == REJECTED


def test_an_operator_of_several_inputs_stands_under_the_last_and_names_the_others() -> None:
    graph = drawn(
        reads("a"),
        reads("b"),
        maps("m", "a"),
        merge("both", "m", "b"),
        maps("n", "m"),
        join("j", "both", "n"),
    )
    assert shown(graph).split("stage 1\n")[1] == SEVERAL_INPUTS


@given(apps())
def test_every_operator_has_one_line(graph: Graph) -> None:
    lines = shown(graph).splitlines()
    for operator in graph.operators.values():
        if operator.kind != "input":
            said = re.compile(rf"[└├] {operator.kind} {operator.name}(\s|$)")
            assert sum(bool(said.search(line)) for line in lines) == 1


@given(wild_graphs())
def test_colour_is_all_that_colour_adds(graph: Graph) -> None:
    planned = plan(graph)
    coloured = plan_text.render("page-views", graph, planned, True)
    assert "\x1b[" in coloured
    plain = "\n".join(line.rstrip() for line in _ESCAPE.sub("", coloured).split("\n"))
    assert plain == plan_text.render("page-views", graph, planned, False)


def test_a_name_cannot_steer_the_terminal() -> None:
    graph = drawn(reads("\x1b[2J"), maps("m", "\x1b[2J"))
    assert "\x1b" not in shown(graph)
    assert "\\x1b[2J" in shown(graph)
