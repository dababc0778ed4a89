"""Bounded connections: never too many, and who holds many open keeps out nobody but itself."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.connection_bounds import ConnectionBounds

MOST, MOST_OF_ADDRESS, SECONDS = 6, 3, 10.0


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.booleans()), max_size=60))
def test_there_are_never_more_than_the_bounds_and_the_oldest_of_the_fullest_address_ends(
    arrivals: list[tuple[str, bool]],
) -> None:
    bounds = ConnectionBounds[int](MOST, MOST_OF_ADDRESS, SECONDS)
    open_connections: dict[int, str] = {}
    for number, (address, proves) in enumerate(arrivals):
        open_connections[number] = address
        excess = bounds.add(number, address, float(number))
        if excess is not None:
            of_address = list(open_connections.values())
            counts = {at: of_address.count(at) for at in of_address}
            owner = open_connections[excess]
            assert counts[owner] in {MOST_OF_ADDRESS + 1, max(counts.values())}
            assert excess == min(one for one, at in open_connections.items() if at == owner)
            del open_connections[excess]
            bounds.forget(excess)
        if proves and number in open_connections:
            del open_connections[number]
            bounds.forget(number)
        assert len(bounds) == len(open_connections) <= MOST
    now = len(arrivals) + SECONDS / 2
    assert list(bounds.overdue(now)) == [one for one in open_connections if one + SECONDS < now]


def test_a_connection_that_has_said_what_it_wants_takes_its_time_and_counts_still() -> None:
    bounds = ConnectionBounds[str](MOST, MOST_OF_ADDRESS, SECONDS)
    for name in ("answered", "silent"):
        bounds.add(name, "a", 0.0)
    bounds.settle("answered")
    assert list(bounds.overdue(2 * SECONDS)) == ["silent"]
    assert len(bounds) == 2


def test_a_newcomer_from_an_address_of_its_own_stays_while_others_hold_all_places() -> None:
    bounds = ConnectionBounds[str](MOST, MOST_OF_ADDRESS, SECONDS)
    for number in range(MOST):
        bounds.add(f"stranger {number}", "ab"[number % 2], 0.0)
    excess = bounds.add("lane", "c", 1.0)
    assert excess == "stranger 0"
