from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamapp.durable_forms import JOB_MODEL
from streamapp.jobmodel.compact_codec import decode_model, encode_model
from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.packed_columns import ColumnWriter
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.jobmodel.unreadable_data import ModelUnreadableError
from streamapp.spec.reasons import Reason
from tests.harness.core.all_cases import all_cases
from tests.harness.core.job_models import large, models, small

ENCODED = encode_model(small())


def sealed(body: bytes, written: int = 1) -> bytes:
    return SealedFrame(b"SAJM", replace(JOB_MODEL, version=written), ModelUnreadableError).close(body)


def refusal(encoded: bytes) -> ModelUnreadableError:
    with pytest.raises(ModelUnreadableError) as caught:
        decode_model(encoded)
    return caught.value


@given(models())
@example(small())
def test_any_model_comes_back_as_it_was(model: JobModel) -> None:
    assert decode_model(encode_model(model)) == model


@given(models())
def test_equal_models_have_equal_bytes(model: JobModel) -> None:
    assert encode_model(decode_model(encode_model(model))) == encode_model(model)


def test_a_hundred_thousand_tasks_on_a_thousand_processors_stay_under_250_kilobytes() -> None:
    model = large(tasks=100_000, processors=1_000)
    encoded = encode_model(model)
    assert len(encoded) < 250_000
    assert decode_model(encoded) == model


def test_a_model_cut_off_anywhere_is_refused() -> None:
    with all_cases() as case:
        for length in range(len(ENCODED)):
            with case(length):
                assert refusal(ENCODED[:length]).reason is Reason.DAMAGED_DATA


def test_a_model_with_any_one_byte_changed_is_refused_as_damaged() -> None:
    for place in range(len(ENCODED)):
        for flip in range(1, 256):
            changed = bytearray(ENCODED)
            changed[place] ^= flip
            assert refusal(bytes(changed)).reason is Reason.DAMAGED_DATA


def test_a_model_with_bytes_after_it_is_refused() -> None:
    assert refusal(ENCODED + b"\0").reason is Reason.DAMAGED_DATA


def test_a_model_of_a_later_format_is_refused_and_the_message_says_what_to_do() -> None:
    error = refusal(sealed(b"whatever a later version writes", written=2))
    assert error.reason is Reason.NEWER_FORMAT
    assert "format 2" in str(error)
    assert "later" in error.hint


@given(st.binary(max_size=200))
def test_bytes_that_are_no_model_are_refused(content: bytes) -> None:
    assert refusal(content).reason is Reason.DAMAGED_DATA


@given(st.binary(max_size=200))
def test_a_sound_frame_around_bytes_that_are_not_compressed_is_refused(content: bytes) -> None:
    assert refusal(sealed(content)).reason is Reason.DAMAGED_DATA


@given(st.lists(st.lists(st.integers(-(2**40), 2**40) | st.integers(-2, 3), max_size=4), max_size=20))
def test_a_sound_frame_around_the_wrong_columns_is_refused(numbers: list[list[int]]) -> None:
    columns = ColumnWriter()
    for column in numbers:
        columns.numbers(column)
    assert refusal(sealed(columns.packed())).reason in (Reason.DAMAGED_DATA, Reason.INVALID_JOB_MODEL)


def test_a_sound_frame_around_a_model_that_contradicts_itself_is_refused() -> None:
    columns = ColumnWriter()
    columns.numbers([1, 0])
    columns.texts(["run-1", "shop"])
    columns.names(["a", "b"])
    columns.steps([5, 5])
    columns.names(["0"])
    columns.numbers([0, 0])
    for groups in ([0, 0], [0]):
        columns.numbers(groups)
        columns.choices([])
        columns.numbers([])
    error = refusal(sealed(columns.packed()))
    assert error.reason is Reason.INVALID_JOB_MODEL
    assert "changelog partitions given to more than one task: 5" in error.message
