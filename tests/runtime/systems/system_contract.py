"""What every system must do: derive from `SystemContract` and give the fixture `system_factory`."""

from collections.abc import Callable

import pytest

from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.systems.stream_system import (
    STORED_WITH_HEADERS,
    FencedError,
    OutOfRangeError,
    StreamOptions,
    StreamSystem,
    UnknownStreamError,
)
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import NOBODY, batch, keyed, rows, texts, values, write
from tests.harness.kafka.record_contents import with_headers

SystemFactory = Callable[[], StreamSystem]
"""Each call gives another client of one and the same system, which is empty at first."""

VIEWS = TopicPartition("views", 0)
COMPACTED = StreamOptions(compacted=True)


class SystemContract:
    @pytest.fixture
    def system(self, system_factory: SystemFactory) -> StreamSystem:
        return system_factory()

    @pytest.fixture
    def hasty_system(self, system: StreamSystem) -> StreamSystem:
        """A client that does not wait long for what may still come."""
        return system

    def test_a_stream_that_was_not_made_is_not_there(self, system: StreamSystem) -> None:
        assert "views" not in system.streams()
        assert system.partitions("views") is None

    def test_a_stream_has_the_partitions_that_it_was_made_with(self, system: StreamSystem) -> None:
        system.create("views", 3)
        system.create("users", 1, COMPACTED)
        assert system.streams().items() >= {"users": 1, "views": 3}.items()
        assert system.partitions("views") == 3

    def test_making_the_same_stream_again_changes_nothing(self, system: StreamSystem) -> None:
        system.create("views", 1)
        write(system, VIEWS, values("a"))
        system.create("views", 1)
        assert texts(system, VIEWS) == ["a"]

    @pytest.mark.parametrize(("count", "options"), [(2, StreamOptions()), (1, COMPACTED)])
    def test_making_a_stream_of_that_name_but_not_the_same_is_refused(
        self, system: StreamSystem, count: int, options: StreamOptions
    ) -> None:
        system.create("views", 1)
        with pytest.raises(ValueError, match="views"):
            system.create("views", count, options)

    def test_a_stream_grows_and_keeps_what_it_held(self, system: StreamSystem) -> None:
        system.create("views", 1)
        write(system, VIEWS, values("a"))
        system.grow("views", 3)
        write(system, TopicPartition("views", 2), values("c"))
        assert system.partitions("views") == 3
        assert [texts(system, TopicPartition("views", index)) for index in range(3)] == [["a"], [], ["c"]]

    def test_a_stream_does_not_shrink(self, system: StreamSystem) -> None:
        system.create("views", 3)
        with pytest.raises(ValueError, match="3"):
            system.grow("views", 2)

    def test_what_streams_hold_is_told_of_those_that_are_asked_for(self, system: StreamSystem) -> None:
        system.create("views", 2)
        system.create("users", 1, COMPACTED)
        write(system, VIEWS, values("a", "b"))
        found = system.holdings(["views", "users", "absent"])
        assert sorted(found) == ["users", "views"]
        assert (found["views"].partitions, found["users"].partitions) == (2, 1)
        assert (found["views"].options.compacted, found["users"].options.compacted) == (False, True)
        assert (found["views"].records >= 2, found["users"].records) == (True, 0)
        assert system.holdings().keys() >= {"views", "users"}

    def test_an_empty_partition_starts_and_ends_at_zero(self, system: StreamSystem) -> None:
        system.create("views", 1)
        assert system.spans([VIEWS]) == {VIEWS: OffsetSpan(0, 0)}
        assert list(system.read(VIEWS, 0, 0)) == []

    def test_records_come_back_in_order_with_growing_offsets_nulls_and_times(
        self, system: StreamSystem
    ) -> None:
        system.create("views", 1)
        given = [(b"k", b"v", 5), (None, b"", 3), (b"", None, None), (b"k", b"\x00\xff", 9)]
        write(system, VIEWS, batch(given[:2]), batch(given[2:]))
        found = rows(system, VIEWS)
        assert [(row["key"], row["value"]) for row in found] == [(key, value) for key, value, _ in given]
        assert [row["timestamp"] for row in found if row["value"] is not None] == [5, 3, 9]
        offsets = [row["offset"] for row in found]
        assert offsets == sorted(set(offsets))

    def test_headers_come_back_in_order_where_they_are_asked_for(self, system: StreamSystem) -> None:
        system.create("views", 1)
        headers = [[("a", b"1"), ("b", None), ("a", b"")], [], [("\u00e9", b"\xff")]]
        write(system, VIEWS, values("none"), with_headers(values("x", "y", "z"), headers), values("none"))
        end = system.spans([VIEWS])[VIEWS].end
        parts = list(system.read(VIEWS, 0, end, headers=True))
        assert {part.schema for part in parts} == {STORED_WITH_HEADERS}
        listed = [each for part in parts for each in part.column("headers").to_pylist()]
        assert [[(one["name"], one["value"]) for one in each] for each in listed] == [[], *headers, []]
        assert texts(system, VIEWS) == ["none", "x", "y", "z", "none"]

    def test_a_range_is_what_lies_between_two_positions(self, system: StreamSystem) -> None:
        system.create("views", 1)
        middle = write(system, VIEWS, values("a", "b"))
        write(system, VIEWS, values("c", "d"))
        assert texts(system, VIEWS, end=middle) == ["a", "b"]
        assert texts(system, VIEWS, start=middle) == ["c", "d"]
        third = rows(system, VIEWS)[2]["offset"]
        assert texts(system, VIEWS, start=third, end=third + 1) == ["c"]

    def test_the_offset_at_a_time_is_that_of_the_first_record_that_is_not_older(
        self, system: StreamSystem
    ) -> None:
        system.create("views", 1)
        write(system, VIEWS, batch([(None, b"a", 5), (None, b"b", 30)]))
        write(system, VIEWS, batch([(None, b"c", 20), (None, b"d", 40)]))
        for time_ms, text in ((0, "a"), (5, "a"), (6, "b"), (30, "b"), (31, "d"), (40, "d")):
            offset = system.offsets_at([VIEWS], time_ms)[VIEWS]
            assert texts(system, VIEWS, offset)[0] == text
        assert system.offsets_at([VIEWS], 41)[VIEWS] == system.spans([VIEWS])[VIEWS].end

    def test_a_slice_of_a_batch_is_written_as_the_rows_that_it_shows(self, system: StreamSystem) -> None:
        system.create("views", 1)
        write(system, VIEWS, values("a", "b", "c", "d").slice(1, 2))
        assert texts(system, VIEWS) == ["b", "c"]

    def test_many_records_come_back_as_they_were(self, system: StreamSystem) -> None:
        system.create("views", 1)
        given = [f"record {number}".ljust(number % 300, "x") for number in range(20_000)]
        write(system, VIEWS, values(*given[:15_000]), values(*given[15_000:]))
        assert texts(system, VIEWS) == given

    def test_nothing_is_seen_before_the_commit_and_everything_after_it(
        self, system_factory: SystemFactory
    ) -> None:
        writer, reader = system_factory(), system_factory()
        writer.create("views", 2)
        both = [VIEWS, TopicPartition("views", 1)]
        transaction = writer.begin(NOBODY, 1)
        for partition in both:
            transaction.append(partition, values("a"))
        assert [texts(reader, partition) for partition in both] == [[], []]
        transaction.commit()
        assert [texts(reader, partition) for partition in both] == [["a"], ["a"]]

    def test_a_commit_tells_the_end_of_every_partition_that_it_wrote_to(self, system: StreamSystem) -> None:
        system.create("views", 2)
        system.create("checkpoint", 1, COMPACTED)
        transaction = system.begin("checkpoint", 1)
        transaction.append(VIEWS, values("a", "b"))
        transaction.put("checkpoint", b"task 0", b"{}")
        ends = transaction.commit()
        assert ends.keys() == {VIEWS, TopicPartition("checkpoint", 0)}
        for partition, end in ends.items():
            assert system.spans([partition])[partition].end >= end > rows(system, partition)[-1]["offset"]

    def test_a_transaction_tells_where_what_it_appends_ends_before_it_commits(
        self, system: StreamSystem
    ) -> None:
        system.create("users", 1, COMPACTED)
        users = TopicPartition("users", 0)
        for entries in [{"ann": "1", "bob": "1"}, {"cid": "1"}]:
            transaction = system.begin(NOBODY, 1, writer="lane")
            transaction.append(users, keyed(**entries))
            end = transaction.end_of(users)
            transaction.commit()
            assert end == rows(system, users)[-1]["offset"] + 1

    def test_what_was_aborted_is_never_seen(self, system: StreamSystem) -> None:
        system.create("views", 1)
        transaction = system.begin(NOBODY, 1)
        transaction.append(VIEWS, values("a"))
        transaction.abort()
        write(system, VIEWS, values("b"))
        assert texts(system, VIEWS) == ["b"]

    def test_an_empty_transaction_commits(self, system: StreamSystem) -> None:
        system.create("views", 1)
        transaction = system.begin(NOBODY, 1)
        transaction.append(VIEWS, values())
        assert transaction.commit() == {}

    def test_a_stream_or_partition_that_is_not_there_is_named(self, system: StreamSystem) -> None:
        system.create("views", 1)
        for missing in [TopicPartition("visits", 0), TopicPartition("views", 1)]:
            with pytest.raises(UnknownStreamError, match=missing.topic):
                system.spans([missing])
            with pytest.raises(UnknownStreamError, match=missing.topic):
                list(system.read(missing, 0, 1))
            with pytest.raises(UnknownStreamError, match=missing.topic):
                write(system, missing, values("a"))
        with pytest.raises(UnknownStreamError, match="visits"):
            system.grow("visits", 2)

    def test_the_latest_values_are_those_put_last_without_deleted_keys(
        self, system_factory: SystemFactory
    ) -> None:
        system = system_factory()
        system.create("checkpoint", 1, COMPACTED)
        for entries in [{b"a": b"1", b"b": b"1"}, {b"a": b"2", b"c": b""}, {b"b": None}]:
            transaction = system.begin("checkpoint", 1)
            for key, value in entries.items():
                transaction.put("checkpoint", key, value)
            transaction.commit()
        assert system.latest("checkpoint") == {b"a": b"2", b"c": b""}
        assert system_factory().latest("checkpoint") == {b"a": b"2", b"c": b""}

    def test_the_latest_values_include_appended_records(self, system: StreamSystem) -> None:
        system.create("users", 1, COMPACTED)
        transaction = system.begin(NOBODY, 1)
        transaction.put("users", b"ann", b"0")
        transaction.put("users", b"cid", b"0")
        transaction.commit()
        write(system, TopicPartition("users", 0), keyed(ann="1", bob="1"), keyed(cid=None))
        assert system.latest("users") == {b"ann": b"1", b"bob": b"1"}

    def test_a_fenced_incarnation_writes_nothing_and_a_newer_one_does(self, system: StreamSystem) -> None:
        system.create("views", 1)
        system.create("checkpoint", 1, COMPACTED)
        old = system.begin("checkpoint", 1, writer="lane")
        old.append(VIEWS, values("old"))
        old.put("checkpoint", b"task 0", b"old")
        system.fence("checkpoint", 2, ["lane"])
        with pytest.raises(FencedError):
            old.commit()
        new = system.begin("checkpoint", 2, writer="lane")
        new.append(VIEWS, values("new"))
        new.commit()
        assert texts(system, VIEWS) == ["new"]
        assert system.latest("checkpoint") == {}

    def test_what_was_interrupted_writes_nothing_and_its_writer_begins_anew(
        self, system: StreamSystem
    ) -> None:
        system.create("views", 1)
        system.create("checkpoint", 1, COMPACTED)
        old = system.begin("checkpoint", 1, writer="lane")
        old.append(VIEWS, values("old"))
        old.put("checkpoint", b"task 0", b"old")
        system.interrupt("checkpoint", ["lane"])
        new = system.begin("checkpoint", 1, {b"task 0": None}, writer="lane")
        new.append(VIEWS, values("new"))
        new.put("checkpoint", b"task 0", b"new")
        new.commit()
        with pytest.raises(FencedError):
            system.begin("checkpoint", 1, {b"task 0": b"old"}, writer="lane").commit()
        assert texts(system, VIEWS) == ["new"]

    def test_a_fence_never_goes_back(self, system: StreamSystem) -> None:
        system.create("checkpoint", 1, COMPACTED)
        system.fence("checkpoint", 5)
        system.fence("checkpoint", 3)
        with pytest.raises(FencedError):
            system.begin("checkpoint", 4).commit()

    def test_a_fence_of_one_owner_does_not_touch_another(self, system: StreamSystem) -> None:
        system.create("views", 1)
        system.create("one.checkpoint", 1, COMPACTED)
        system.fence("one.checkpoint", 9)
        assert write(system, VIEWS, values("a"), owner="another.checkpoint") > 0

    def test_a_commit_goes_through_when_the_checkpoints_are_as_expected(self, system: StreamSystem) -> None:
        system.create("views", 1)
        system.create("checkpoint", 1, COMPACTED)
        for batch_number, expected in [(b"1", None), (b"2", b"1")]:
            transaction = system.begin("checkpoint", 1, {b"task 0": expected})
            transaction.append(VIEWS, values(batch_number.decode()))
            transaction.put("checkpoint", b"task 0", batch_number)
            transaction.commit()
        assert texts(system, VIEWS) == ["1", "2"]

    @pytest.mark.parametrize("expected", [None, b"0", b"2"])
    def test_a_commit_that_expects_another_checkpoint_writes_nothing(
        self, system_factory: SystemFactory, expected: bytes | None
    ) -> None:
        system = system_factory()
        system.create("views", 1)
        system.create("checkpoint", 1, COMPACTED)
        first = system.begin("checkpoint", 1)
        first.put("checkpoint", b"task 0", b"1")
        first.commit()
        with pytest.raises(FencedError):
            late = system_factory().begin("checkpoint", 1, {b"task 0": expected})
            late.append(VIEWS, values("late"))
            late.put("checkpoint", b"task 0", b"9")
            late.commit()
        assert texts(system, VIEWS) == []
        assert system.latest("checkpoint") == {b"task 0": b"1"}

    def test_of_two_attempts_at_the_same_batch_one_is_written(self, system_factory: SystemFactory) -> None:
        system = system_factory()
        system.create("views", 1)
        system.create("checkpoint", 1, COMPACTED)
        attempts = []
        for name in [b"1.1.0", b"1.1.1"]:
            attempt = system_factory().begin("checkpoint", 1, {b"task 0": None})
            attempt.append(VIEWS, values(name.decode()))
            attempt.put("checkpoint", b"task 0", name)
            attempts.append(attempt)
        attempts[1].commit()
        with pytest.raises(FencedError):
            attempts[0].commit()
        assert texts(system, VIEWS) == ["1.1.1"]

    def test_records_that_were_let_go_are_out_of_range_and_offsets_stay(self, system: StreamSystem) -> None:
        system.create("views", 1)
        middle = write(system, VIEWS, values("a", "b"))
        write(system, VIEWS, values("c"))
        end = system.spans([VIEWS])[VIEWS].end
        system.delete_before({VIEWS: middle})
        assert system.spans([VIEWS]) == {VIEWS: OffsetSpan(middle, end)}
        assert texts(system, VIEWS, middle) == ["c"]
        with pytest.raises(OutOfRangeError, match="views#0"):
            list(system.read(VIEWS, 0, end))

    def test_a_range_past_the_end_is_refused(self, system: StreamSystem, hasty_system: StreamSystem) -> None:
        system.create("views", 1)
        write(system, VIEWS, values("a"))
        end = system.spans([VIEWS])[VIEWS].end
        with pytest.raises(OutOfRangeError, match="views#0"):
            list(hasty_system.read(VIEWS, 0, end + 1))
