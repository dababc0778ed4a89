"""Which streams reach a place, and how far behind their watermarks rows may come there."""

from streamapp.control.control_message import ENDED, NO_BOUND
from streamapp_runtime.operators.aggregate.totals_operation import Span, Totals
from streamapp_runtime.operators.compilation.row_operations import SelectColumns
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.state.event_clock import WatermarkReach
from streamapp_runtime.operators.stateless.stream_operations import StreamRole
from streamapp_runtime.operators.tables.table_operations import FillTable, LookUp
from streamapp_runtime.program.watermark_reach import program_reach
from tests.harness.graphs.program_pieces import program, read, write


def totals(name: str, kind: str = "tumbling") -> Totals:
    return Totals(name, (), False, (), Span(kind, 10, 10), "onWatermark", 0, ())


def test_a_window_behind_a_merge_is_reached_by_all_its_streams():
    found = program_reach(
        program(
            a=(read("a", time="x"), ()),
            b=(read("b"), ()),
            merged=(SelectColumns(()), ("a", "b")),
            windows=(totals("windows"), ("merged",)),
        )
    )
    assert found.states == {"windows": WatermarkReach({"a": 0, "b": 0}, timed=True)}


def test_nothing_reaches_a_join_through_the_table_that_it_looks_into():
    found = program_reach(
        program(
            users=(read("users", StreamRole.SIDE_INPUT, time="x"), ()),
            filled=(FillTable("users", "users", False, ()), ("users",)),
            views=(read("views", time="x"), ()),
            joined=(LookUp("users", False, None, ()), ("views",)),
            out=(write("through"), ("joined",)),
        )
    )
    assert found.writes == {"through": WatermarkReach({"views": 0}, timed=True)}


def test_a_stream_is_timed_where_any_stream_before_it_is_however_far_up():
    found = program_reach(
        program(
            a=(read("a", time="x"), ()),
            first=(write("p"), ("a",)),
            p=(read("p", StreamRole.INTERMEDIATE), ()),
            second=(write("q"), ("p",)),
            q=(read("q", StreamRole.INTERMEDIATE), ()),
            third=(write("r"), ("q",)),
            plain=(read("plain"), ()),
            fourth=(write("s"), ("plain",)),
        )
    )
    assert found.timed == {"a", "p", "q", "r"}
    assert {stream: reach.timed for stream, reach in found.writes.items()} == {
        "p": True, "q": True, "r": True, "s": False
    }  # fmt: skip


def test_another_apps_stream_that_carries_its_watermarks_is_timed():
    assert program_reach(program(a=(read("a", control=True), ()))).timed == {"a"}


def test_outer_joins_and_sessions_hold_back_what_follows_and_the_longest_way_counts():
    outer = JoinStreams("outer", "left", 100, "event", ())
    found = program_reach(
        program(
            a=(read("a", time="x"), ()),
            b=(read("b", time="x"), ()),
            outer=(outer, ("a", "b")),
            sessions=(totals("sessions", "session"), ("outer",)),
            both=(SelectColumns(()), ("a", "sessions")),
            after=(totals("after"), ("both",)),
        )
    )
    assert found.states["outer"].holds == {"a": 0, "b": 0}
    assert found.states["sessions"].holds == {"a": 200, "b": 200}
    assert found.states["after"].holds == {"a": 201, "b": 201}


def test_the_watermark_of_a_place_is_the_lowest_of_the_streams_that_a_task_reads_less_what_holds_it_back():
    reach = WatermarkReach({"a": 10, "b": 0}, timed=True)
    assert reach.watermark({"a": 50, "b": 45}) == 40
    assert reach.watermark({"a": 50, "b": None}) is None
    assert reach.watermark({"a": 50}) == 40
    assert reach.watermark({"a": NO_BOUND, "b": 7}) == 7
    assert reach.watermark({"a": ENDED, "b": ENDED}) == ENDED
    assert reach.watermark({}) is None


def test_without_event_times_only_an_end_is_a_watermark():
    reach = WatermarkReach({"a": 0})
    assert reach.watermark({"a": NO_BOUND}) is None
    assert reach.watermark({"a": ENDED}) == ENDED
