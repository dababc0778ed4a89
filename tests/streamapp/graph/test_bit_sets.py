from hypothesis import given
from hypothesis import strategies as st

from streamapp.graph.bit_sets import lowest, mask_of, members, numbers_in

# Few numbers far apart and many close together take different ways.
NUMBERS = st.one_of(st.sets(st.integers(0, 3000), max_size=6), st.sets(st.integers(0, 60)))


@given(NUMBERS)
def test_a_set_gives_back_its_numbers_in_order(numbers: set[int]) -> None:
    assert list(numbers_in(mask_of(numbers))) == sorted(numbers)


@given(NUMBERS)
def test_a_set_names_its_members_in_the_order_of_the_names(numbers: set[int]) -> None:
    names = [f"stream {number}" for number in range(3001)]
    assert members(mask_of(numbers), names) == tuple(names[number] for number in sorted(numbers))


@given(NUMBERS.filter(bool))
def test_the_lowest_number_is_the_smallest(numbers: set[int]) -> None:
    assert lowest(mask_of(numbers)) == min(numbers)
