import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.protocol.ending import MOST_BYTES, Code, Ending, Outcome, ending


@given(st.sampled_from(Code), st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))
def test_an_ending_is_read_as_it_was_written(code: Code, reason: str, path: str, message: str) -> None:
    told = Ending.of(code, reason, path, message)
    assert ending(code, told.text()) in (told, Ending.of(Code.DONE))  # a good end needs no words


@pytest.mark.parametrize("letter", ["x", "é", "\U0001f600", '"', "\n"])
def test_a_message_of_any_length_leaves_a_termination_message_that_can_be_read(letter: str) -> None:
    text = Ending.of(Code.CONFIG, "InvalidSpec", "spec.operators[3]", letter * 50_000).text()
    assert len(text.encode()) <= MOST_BYTES
    assert json.loads(text)["path"] == "spec.operators[3]"


@pytest.mark.parametrize("code", [1, 2, 3, 137, 143, -9])
@pytest.mark.parametrize("text", ["", "Killed", "{", '{"outcome": "fine"}', "[1]"])
def test_who_ends_without_a_word_is_tried_again(code: int, text: str) -> None:
    found = ending(code, text)
    assert found.outcome is Outcome.RETRY
    assert str(code) in found.message


def test_exit_code_0_is_taken_at_its_word() -> None:
    assert ending(0, "whatever").outcome is Outcome.DONE


def test_a_word_that_the_exit_code_belies_is_not_believed() -> None:
    assert ending(137, Ending.of(Code.DONE).text()).outcome is Outcome.RETRY
    assert ending(0, Ending.of(Code.CONFIG).text()).outcome is Outcome.DONE


def test_the_last_line_is_the_word_whatever_stands_before_it() -> None:
    said = "WARNING: something\n" + Ending.of(Code.CONFIG, "InvalidSpec", "spec.tables[0]", "no").text()
    assert ending(1, said).path == "spec.tables[0]"
