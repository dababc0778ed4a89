import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.protocol.termination import MOST_BYTES, ExitCode, RunOutcome, Termination, termination_of


@given(st.sampled_from(ExitCode), st.text(max_size=9), st.text(max_size=9), st.text(max_size=9))
def test_an_ending_is_read_as_it_was_written(code: ExitCode, reason: str, path: str, message: str) -> None:
    told = Termination.of(code, reason, path, message)
    assert termination_of(code, told.text()) in (
        told,
        Termination.of(ExitCode.DONE),
    )  # a good end needs no words


@pytest.mark.parametrize("letter", ["x", "é", "\U0001f600", '"', "\n"])
def test_a_message_of_any_length_leaves_a_termination_message_that_can_be_read(letter: str) -> None:
    text = Termination.of(ExitCode.CONFIG, "InvalidSpec", "spec.operators[3]", letter * 50_000).text()
    assert len(text.encode()) <= MOST_BYTES
    assert json.loads(text)["path"] == "spec.operators[3]"


@pytest.mark.parametrize("code", [1, 2, 3, 137, 143, -9])
@pytest.mark.parametrize("text", ["", "Killed", "{", '{"outcome": "fine"}', "[1]"])
def test_who_ends_without_a_word_is_tried_again(code: int, text: str) -> None:
    found = termination_of(code, text)
    assert found.outcome is RunOutcome.RETRY
    assert str(code) in found.message


def test_exit_code_0_is_taken_at_its_word() -> None:
    assert termination_of(0, "whatever").outcome is RunOutcome.DONE


def test_a_word_that_the_exit_code_belies_is_not_believed() -> None:
    assert termination_of(137, Termination.of(ExitCode.DONE).text()).outcome is RunOutcome.RETRY
    assert termination_of(0, Termination.of(ExitCode.CONFIG).text()).outcome is RunOutcome.DONE


def test_the_last_line_is_the_word_whatever_stands_before_it() -> None:
    said = (
        "WARNING: something\n" + Termination.of(ExitCode.CONFIG, "InvalidSpec", "spec.tables[0]", "no").text()
    )
    assert termination_of(1, said).path == "spec.tables[0]"
