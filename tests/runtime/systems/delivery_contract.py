"""What every system must do for what may be written twice but not be missing: derive from it as well."""

import pytest

from streamapp_runtime.systems.stream_system import (
    FencedError,
    StreamOptions,
    StreamSystem,
    UnknownStreamError,
)
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch, keyed, rows, texts, values
from tests.runtime.systems.system_contract import SystemFactory

VIEWS = TopicPartition("views", 0)
COMPACTED = StreamOptions(compacted=True)


class DeliveryContract:
    @pytest.fixture
    def made(self, system_factory: SystemFactory) -> StreamSystem:
        system = system_factory()
        system.create("views", 2)
        system.create("users", 1, COMPACTED)
        system.create("checkpoint", 1, COMPACTED)
        return system

    @pytest.mark.parametrize("at_least_once", [False, True])
    def test_what_was_handed_out_is_there_in_order_when_the_rest_is(
        self, made: StreamSystem, system_factory: SystemFactory, at_least_once: bool
    ) -> None:
        before: bytes | None = None
        for number in (b"1", b"2"):
            transaction = made.begin(
                "checkpoint", 1, {b"task 0": before}, "lane", at_least_once=at_least_once
            )
            transaction.append_uncommitted(VIEWS, values(f"a{number.decode()}"))
            transaction.append_uncommitted(VIEWS, values(f"b{number.decode()}"))
            transaction.put("checkpoint", b"task 0", number)
            transaction.commit()
            before = number
        reader = system_factory()
        assert texts(reader, VIEWS) == ["a1", "b1", "a2", "b2"]
        assert reader.latest("checkpoint") == {b"task 0": b"2"}

    def test_state_beside_what_is_handed_out_is_written_as_one_with_its_end_told(
        self, made: StreamSystem
    ) -> None:
        transaction = made.begin("checkpoint", 1, {b"task 0": None}, "lane")
        users = TopicPartition("users", 0)
        transaction.append_uncommitted(VIEWS, values("a"))
        transaction.append(users, keyed(ann="1"))
        end = transaction.end_of(users)
        assert rows(made, users) == []
        transaction.put("checkpoint", b"task 0", b"1")
        transaction.commit()
        assert end == rows(made, users)[-1]["offset"] + 1

    @pytest.mark.parametrize("at_least_once", [False, True])
    def test_a_writer_that_is_fenced_before_it_begins_writes_no_checkpoint(
        self, made: StreamSystem, system_factory: SystemFactory, at_least_once: bool
    ) -> None:
        made.fence("checkpoint", 2, ["lane"])
        with pytest.raises(FencedError):
            late = system_factory().begin(
                "checkpoint", 1, {b"task 0": None}, "lane", at_least_once=at_least_once
            )
            late.put("checkpoint", b"task 0", b"late")
            late.commit()
        assert made.latest("checkpoint") == {}

    @pytest.mark.parametrize("at_least_once", [False, True])
    def test_a_batch_made_again_after_its_commit_writes_no_checkpoint(
        self, made: StreamSystem, system_factory: SystemFactory, at_least_once: bool
    ) -> None:
        first = made.begin("checkpoint", 1, {b"task 0": None}, "lane", at_least_once=at_least_once)
        first.put("checkpoint", b"task 0", b"1")
        first.commit()
        for system in (made, system_factory()):  # in the same process, and in another one
            with pytest.raises(FencedError, match="task 0"):
                again = system.begin("checkpoint", 1, {b"task 0": None}, "lane", at_least_once=at_least_once)
                again.put("checkpoint", b"task 0", b"again")
                again.commit()
        assert made.latest("checkpoint") == {b"task 0": b"1"}

    @pytest.mark.parametrize("at_least_once", [False, True])
    def test_what_was_put_in_vain_is_not_there_and_its_writer_goes_on(
        self, made: StreamSystem, at_least_once: bool
    ) -> None:
        vain = made.begin("checkpoint", 1, {b"task 0": None}, "lane", at_least_once=at_least_once)
        vain.append_uncommitted(VIEWS, values("vain"))
        vain.put("checkpoint", b"task 0", b"vain")
        vain.abort()
        assert made.latest("checkpoint") == {}
        second = made.begin("checkpoint", 1, {b"task 0": None}, "lane", at_least_once=at_least_once)
        second.append_uncommitted(VIEWS, values("good"))
        second.put("checkpoint", b"task 0", b"good")
        second.commit()
        assert [text for text in texts(made, VIEWS) if text != "vain"] == ["good"]
        assert made.latest("checkpoint") == {b"task 0": b"good"}

    @pytest.mark.parametrize("at_least_once", [False, True])
    def test_records_without_a_time_are_handed_out_too_and_nulls_stay_nulls(
        self, made: StreamSystem, at_least_once: bool
    ) -> None:
        transaction = made.begin("checkpoint", 1, writer="lane", at_least_once=at_least_once)
        transaction.append_uncommitted(VIEWS, batch([(b"k", None, None)]))
        transaction.commit()
        (row,) = rows(made, VIEWS)
        assert (row["key"], row["value"]) == (b"k", None)

    @pytest.mark.parametrize("at_least_once", [False, True])
    def test_handing_out_to_what_is_not_there_is_refused(
        self, made: StreamSystem, at_least_once: bool
    ) -> None:
        transaction = made.begin("checkpoint", 1, writer="lane", at_least_once=at_least_once)
        with pytest.raises(UnknownStreamError, match="visits"):
            transaction.append_uncommitted(TopicPartition("visits", 0), values("a"))
        with pytest.raises(ValueError, match="schema"):
            transaction.append_uncommitted(VIEWS, values("a").select(["key", "value"]))
        transaction.abort()
        with pytest.raises(ValueError, match="ended"):
            transaction.append_uncommitted(VIEWS, values("a"))

    def test_a_change_of_delivery_goes_on_from_the_checkpoint_in_both_directions(
        self, made: StreamSystem
    ) -> None:
        before: bytes | None = None
        for number, at_least_once in enumerate([False, True, False, True]):
            made.fence("checkpoint", number + 1, ["lane"])
            transaction = made.begin(
                "checkpoint", number + 1, {b"task 0": before}, "lane", at_least_once=at_least_once
            )
            transaction.append_uncommitted(VIEWS, values(str(number)))
            before = str(number).encode()
            transaction.put("checkpoint", b"task 0", before)
            transaction.commit()
        assert texts(made, VIEWS) == ["0", "1", "2", "3"]
        assert made.latest("checkpoint") == {b"task 0": b"3"}
