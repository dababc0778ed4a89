from hypothesis import given
from hypothesis import strategies as st

from streamapp.plan.render.wording import clip_end, clip_middle, display_width, legible


def test_a_name_too_long_keeps_both_its_ends() -> None:
    assert clip_middle("shop.page-views.by-user", 12) == "sho….by-user"


@given(st.text(max_size=40), st.integers(2, 30))
def test_a_shortened_text_fits_and_one_that_fits_is_left_alone(text: str, room: int) -> None:
    for shorten in (clip_middle, clip_end):
        assert display_width(shorten(text, room)) <= room
        assert display_width(text) > room or shorten(text, room) == text


@given(st.text())
def test_a_legible_text_is_printable_and_stays_as_it_is(text: str) -> None:
    assert legible(text).isprintable()
    assert legible(legible(text)) == legible(text)


def test_letters_that_take_two_columns_count_as_two() -> None:
    assert display_width("名前ab") == 6
