"""A version is whole when its end has come everywhere, and not before."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.side_inputs.side_input_version import EndOfVersion, SideInputVersion
from streamapp.tasks.partition import Partition

A, B = Partition("prices>prices", 0), Partition("prices>prices", 1)


def test_a_version_is_whole_when_its_end_came_in_every_partition() -> None:
    first = SideInputVersion().with_end(A, EndOfVersion())
    assert not first.whole([A, B])
    assert first.ended == {A}
    assert first.with_end(B, EndOfVersion()).whole([A, B])


def test_a_partition_ends_when_all_who_write_to_it_have_said_so() -> None:
    once = SideInputVersion().with_end(A, EndOfVersion("run/1/t0", 2))
    assert once.ended == frozenset()
    assert once.with_end(A, EndOfVersion("run/1/t0", 2)).ended == frozenset()
    assert once.with_end(A, EndOfVersion("run/1/t1", 2)).ended == {A}


def test_nothing_has_come_of_the_version_that_follows() -> None:
    assert SideInputVersion().sealed == 0
    following = SideInputVersion().with_end(A, EndOfVersion()).following()
    assert (following.number, following.sealed) == (2, 1)
    assert not following.whole([A])


def test_a_table_without_partitions_has_no_whole_version() -> None:
    assert not SideInputVersion().whole([])


@given(st.integers(1, 9), st.lists(st.tuples(st.sampled_from([A, B]), st.sampled_from("xyz"))))
def test_a_version_is_kept_as_it_is(number: int, heard: list[tuple[Partition, str]]) -> None:
    version = SideInputVersion(number)
    for partition, speaker in heard:
        version = version.with_end(partition, EndOfVersion(speaker, 2))
    assert SideInputVersion.parse(version.text()) == version


def test_a_store_that_keeps_no_version_fills_the_first() -> None:
    assert SideInputVersion.parse("") == SideInputVersion()
