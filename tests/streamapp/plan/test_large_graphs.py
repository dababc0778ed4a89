from streamapp.graph.nodes import TableNode
from streamapp.plan.partition_plan import PlanOutcome
from streamapp.plan.planner import plan
from tests.harness.graphs.graph_drawing import drawn, fill, join, join_table, maps, reads, repartition


def test_a_chain_of_ten_thousand_operators_is_planned() -> None:
    chain = [reads("a"), maps("m0", "a"), *(maps(f"m{n}", f"m{n - 1}") for n in range(1, 10_000))]
    found = plan(drawn(*chain, reads("b"), join("j", "m9999", "b")))
    assert found.outcome is PlanOutcome.ACCEPTED
    assert found.joins[0].streams == ("a", "b")


def test_a_count_travels_through_a_thousand_joins_that_are_linked_by_one_stream_each() -> None:
    splits = [repartition(f"p{n}", "x") for n in range(1000)]
    joins = [join(f"j{n}", f"p{n}", f"p{n + 1}") for n in range(999)]
    found = plan(
        drawn(reads("x"), reads("a"), *splits, *joins, join("z", "p500", "a"), counts={"a": 37, "x": 2})
    )
    assert {found.streams[f"p{n}'"].partitions for n in range(1000)} == {37}
    assert found.streams["p0'"].because.origin == "a"


def test_a_ring_through_a_thousand_tables_ends_and_every_join_has_every_stream() -> None:
    count = 1000
    operators = [
        operator
        for n in range(count)
        for operator in (
            reads(f"s{n}"),
            join_table(f"j{n}", f"s{n}", f"t{n}"),
            fill(f"w{n}", f"j{n}", f"t{(n + 1) % count}"),
        )
    ]
    found = plan(drawn(*operators, tables=tuple(TableNode(f"t{n}") for n in range(count))))
    assert {len(joined.streams) for joined in found.joins} == {count}
