from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.layouts.run_encoding import name_runs, names_of, number_runs, numbers_of

ODD = st.sampled_from(["", "7", "007", "a1b2", "1 1", "x-0", "x-9", "x-10", "٣", "line\n3\n", "9" * 30])
NAMES = st.lists(
    ODD | st.builds("Partition {}".format, st.integers(0, 30)) | st.text(max_size=5), unique=True
)


@given(st.lists(st.integers(-3, 5)))
def test_numbers_come_back(values: list[int]) -> None:
    assert numbers_of(number_runs(values)) == values


@given(NAMES)
def test_names_come_back_whatever_they_look_like(values: list[str]) -> None:
    assert sorted(names_of(name_runs(values))) == sorted(values)


def test_what_is_regular_is_short() -> None:
    assert number_runs([*range(1000), *([7] * 1000)]) == [(0, 1000, 1), (7, 1000, 0)]
    assert name_runs(f"[v, {index}]" for index in range(1000)) == [("[v, ", 0, 1000, "]")]
