from streamapp.graph.nodes import Graph, TableNode
from streamapp.plan.planner import plan
from streamapp.plan.render.drawing import svg_document
from tests.harness.graphs.conflicting_joins import eight_and_six, one_among_many
from tests.harness.graphs.graph_drawing import (
    broadcast,
    drawn,
    fill,
    join,
    join_table,
    maps,
    merge,
    process,
    reads,
    repartition,
)
from tests.harness.graphs.shop_apps import shop
from tests.harness.graphs.svg_elements import Element, parsed


def drawing(graph: Graph) -> Element:
    return parsed(svg_document.render("page-views", graph, plan(graph)))


def node(found: Element, name: str, shape: str) -> Element:
    (one,) = (one for one in found.of("node", shape) if one.attributes["data-name"] == name)
    return one


def edges(found: Element, flow: str) -> set[tuple[str, str]]:
    """The names at the ends of the edges; the legend has edges too, without ends."""
    name = {one.attributes["data-node"]: one.attributes["data-name"] for one in found.of("node")}
    ends = [one.attributes for one in found.of("edge", flow) if "data-from" in one.attributes]
    return {(name[one["data-from"]], name[one["data-to"]]) for one in ends}


def edge_labels(found: Element, source: Element, target: Element) -> list[str]:
    return [
        label.words()
        for label in found.of("label")
        if label.attributes["data-from"] == source.attributes["data-node"]
        and label.attributes["data-to"] == target.attributes["data-node"]
    ]


def test_the_failing_join_and_both_its_streams_are_red_and_marked() -> None:
    found = drawing(eight_and_six())
    failing = {(one.attributes["data-name"], one.classes[1]) for one in found.of("node", "failing")}
    assert failing == {("joined", "join"), ("users", "stream"), ("views", "stream")}
    assert all(one.of("cross") for one in found.of("node", "failing"))
    assert "6 ≠ 8" in node(found, "joined", "join").words()


def test_only_the_edges_that_bring_the_disagreeing_rows_are_red() -> None:
    found = drawing(eight_and_six())
    assert edges(found, "failing") == {
        ("views", "real"),
        ("real", "joined"),
        ("users", "users"),
        ("users", "joined"),
    }


def test_among_many_streams_the_one_that_is_off_stands_out() -> None:
    found = drawing(one_among_many())
    assert {one.attributes["data-name"] for one in found.of("node", "failing")} == {"joined", "odd"}
    assert {one.attributes["data-name"] for one in found.of("node", "involved")} == {"a", "b", "c", "d"}


def test_an_edge_bears_the_counts_of_all_streams_whose_rows_it_carries() -> None:
    graph = drawn(reads("a"), reads("b"), merge("both", "a", "b"), maps("after", "both"), counts={"b": 6})
    found = drawing(graph)
    both, after = node(found, "both", "operator"), node(found, "after", "operator")
    assert edge_labels(found, both, after) == ["6 | 8"]
    assert not found.of("failing")


def test_a_write_to_a_table_reaches_the_table_and_its_readers_by_virtual_edges() -> None:
    graph = drawn(
        reads("a"),
        fill("kept", "a", "t"),
        join_table("j", "a", "t"),
        process("p", "j", "t"),
        tables=(TableNode("t"),),
    )
    found = drawing(graph)
    assert edges(found, "table") == {("kept", "t"), ("t", "j"), ("t", "p"), ("p", "t")}


def test_the_stream_of_a_partition_by_stands_between_it_and_its_readers() -> None:
    found = drawing(
        drawn(reads("a"), repartition("by-user", "a", stream="shop.app.by-user"), maps("m", "by-user"))
    )
    made = node(found, "shop.app.by-user", "intermediate")
    assert "….by-user" in made.words()
    assert edges(found, "rows") == {
        ("a", "by-user"),
        ("by-user", "shop.app.by-user"),
        ("shop.app.by-user", "m"),
    }


def test_a_broadcast_stream_says_that_every_task_gets_all_of_it() -> None:
    found = drawing(drawn(reads("a"), broadcast("all", "a"), join("j", "a", "all")))
    assert "all 1" in node(found, "all'", "intermediate").words()


def test_a_name_that_leads_nowhere_is_drawn_too() -> None:
    found = drawing(drawn(maps("m", "nowhere")))
    assert node(found, "nowhere", "missing").of("cross")


def test_a_long_name_is_shortened_and_told_whole_beside() -> None:
    name = "orders-of-all-customers-in-all-countries"
    found = node(drawing(drawn(reads(name), maps("m", name))), name, "stream")
    assert found.of("name")[0].words() == "orders-…n-all-countries"
    assert name in found.inside[0].text


def test_what_is_wrong_is_said_below_and_to_those_who_do_not_see_it() -> None:
    found = drawing(eight_and_six())
    assert found.attributes["role"] == "img"
    assert found.attributes["aria-label"] == "Plan of page-views: rejected"
    assert any("users has 6; views has 8" in one.words() for one in found.of("said"))
    (described,) = (one for one in found.all() if one.tag == "desc")
    assert "users has 6; views has 8" in described.text


def test_no_two_nodes_have_one_place() -> None:
    places = [one.attributes["transform"] for one in drawing(shop(60)).of("node")]
    assert len(places) == len(set(places))
