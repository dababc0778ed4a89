"""Each location has one writer of a broadcast table, and all who ask get the same answer."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.side_inputs.broadcast_writers import broadcast_writers

names = st.sampled_from(["a", "b", "c", "d", "e"])
places = st.sampled_from(["x", "y", "z"])


def test_the_first_processor_of_a_location_writes() -> None:
    assert broadcast_writers({"b": "x", "a": "x", "c": "y"}) == {"x": "a", "y": "c"}


def test_the_one_that_wrote_before_goes_on_while_it_is_there() -> None:
    assert broadcast_writers({"a": "x", "b": "x"}, before={"x": "b"}) == {"x": "b"}


def test_another_takes_over_when_the_writer_is_gone_or_has_moved() -> None:
    assert broadcast_writers({"a": "x", "c": "x"}, before={"x": "b"}) == {"x": "a"}
    assert broadcast_writers({"a": "x", "b": "y"}, before={"x": "b"}) == {"x": "a", "y": "b"}


@given(st.dictionaries(names, places), st.dictionaries(places, names))
def test_every_location_has_exactly_one_writer_which_is_there(
    locations: dict[str, str], before: dict[str, str]
) -> None:
    found = broadcast_writers(locations, before)
    assert found.keys() == set(locations.values())
    assert all(locations[processor] == place for place, processor in found.items())
