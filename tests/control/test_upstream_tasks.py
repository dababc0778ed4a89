from streamapp.control.upstream_tasks import readers, sources_reaching, upstream_tasks
from streamapp.graph.nodes import Graph, Kind, Operator, Stream, Table
from streamapp.tasks.partition import Partition


def operator(name: str, kind: Kind, *inputs: str, stream: str | None = None, table: str = "") -> Operator:
    return Operator(name, kind, inputs, stream=stream, tables=(table,) if table else ())


def graph(*operators: Operator) -> Graph:
    streams = {one.stream: Stream(one.stream) for one in operators if one.stream is not None}
    return Graph({one.name: one for one in operators}, streams, {"t": Table("t")})


TWO_INPUTS = graph(
    operator("views", Kind.INPUT, stream="views"),
    operator("clicks", Kind.INPUT, stream="clicks"),
    operator("both", Kind.MERGE, "views", "clicks"),
    operator("real", Kind.FILTER, "both"),
    operator("by-user", Kind.PARTITION_BY, "real", stream="users"),
    operator("by-page", Kind.PARTITION_BY, "by-user", stream="pages"),
    operator("later", Kind.BROADCAST, "clicks", stream="all"),
)


def test_a_source_reaches_an_intermediate_stream_through_operators_but_not_through_another_one() -> None:
    assert sources_reaching(TWO_INPUTS) == {
        "users": ("clicks", "views"),
        "pages": ("users",),
        "all": ("clicks",),
    }


def test_who_fills_a_table_is_no_source_of_rows_that_look_something_up_in_it() -> None:
    joined = graph(
        operator("views", Kind.INPUT, stream="views"),
        operator("rates", Kind.INPUT, stream="rates"),
        operator("fill", Kind.SEND_TO_TABLE, "rates", table="t"),
        operator("joined", Kind.JOIN_TABLE, "views", table="t"),
        operator("by-user", Kind.PARTITION_BY, "joined", stream="users"),
    )
    assert sources_reaching(joined) == {"users": ("views",)}


def test_a_ring_of_operators_ends() -> None:
    ring = graph(
        operator("views", Kind.INPUT, stream="views"),
        operator("one", Kind.MERGE, "views", "two"),
        operator("two", Kind.MAP, "one"),
        operator("by-user", Kind.PARTITION_BY, "two", stream="users"),
    )
    assert sources_reaching(ring) == {"users": ("views",)}


def test_upstream_tasks_own_a_partition_of_a_source_that_reaches_the_stream() -> None:
    assignment = {
        "t0": [Partition("views", 0), Partition("clicks", 0)],
        "t1": [Partition("views", 1), Partition("users", 0)],
        "t2": [Partition("users", 1)],
        "t3": [],
    }
    assert upstream_tasks(sources_reaching(TWO_INPUTS), readers(assignment)) == {
        "users": ("t0", "t1"),
        "pages": ("t1", "t2"),
        "all": ("t0",),
    }
