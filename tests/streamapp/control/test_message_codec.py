import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import (
    EARLIEST,
    ENDED,
    NO_BOUND,
    EndOfStream,
    MessageKind,
    UpstreamTask,
    UserRecord,
    Watermark,
)
from streamapp.control.message_codec import decode_control_message, decode_message, encode_message
from streamapp.durable_forms import CONTROL_MESSAGE
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from tests.harness.core.control_messages import says

SPEAKERS = st.builds(
    UpstreamTask,
    task=st.none() | st.text(),
    tasks=st.integers(1, 2**31 - 1),
    run=st.text(),
    model=st.integers(0, 2**63),
)
MESSAGES = st.one_of(
    st.builds(UserRecord, st.none() | st.binary()),
    st.builds(Watermark, SPEAKERS, st.integers(EARLIEST, NO_BOUND)),
    st.builds(EndOfStream, SPEAKERS, st.text()),
)
SAID = {
    "version": 1,
    "taskName": "t",
    "taskCount": 2,
    "timestamp": 5,
    "runId": "r",
    "modelVersion": 1,
}


def control(**changed: object) -> bytes:
    return json.dumps(SAID | changed).encode()


@given(MESSAGES)
def test_a_message_comes_back_as_it_was(message: UserRecord | Watermark | EndOfStream) -> None:
    assert decode_message(encode_message(message)) == message


def test_the_first_byte_tells_the_kind_and_json_follows_as_the_seed_names_it() -> None:
    assert encode_message(UserRecord(b"\x01{}")) == b"\x00\x01{}"
    word = encode_message(says("t", 5))
    assert word is not None
    assert word[0] == 1
    assert json.loads(word[1:]) == SAID
    end = encode_message(EndOfStream(UpstreamTask("t", 2, "r", 1), "int"))
    assert end is not None
    assert end[0] == 2
    assert json.loads(end[1:]) == {key: SAID[key] for key in SAID if key != "timestamp"} | {"stream": "int"}


def test_a_null_record_is_the_user_s() -> None:
    assert encode_message(UserRecord(None)) is None
    assert decode_message(None) == UserRecord(None)


def test_a_later_version_is_refused_as_such_whatever_else_it_holds() -> None:
    refusal = decode_control_message(
        MessageKind.WATERMARK, control(version=CONTROL_MESSAGE.version + 1, timestamp="soon")
    )
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.NEWER_FORMAT
    assert "version 2" in refusal.message


def test_a_field_that_a_later_program_adds_is_passed_over() -> None:
    assert decode_control_message(MessageKind.WATERMARK, control(mood="good")) == says("t", 5)


def test_a_message_of_the_seed_s_form_has_no_run_and_model_0() -> None:
    plain = json.dumps({"version": 1, "taskName": "t", "taskCount": 2, "timestamp": 5}).encode()
    assert decode_control_message(MessageKind.WATERMARK, plain) == says("t", 5, run="", model=0)


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b"1" * 5_000, b'{"version":1}', b"NaN",
        control(timestamp=ENDED), control(timestamp=EARLIEST - 1), control(timestamp=5.5),
        control(timestamp=True), control(timestamp="5"), control(timestamp=None),
        control(taskCount=0), control(taskName=7), control(version=0), control(version=True),
        control(version="1"), control(modelVersion=-1), control(runId=None),
    ],
)  # fmt: skip
def test_what_nobody_writes_is_refused_as_damaged(body: bytes) -> None:
    refusal = decode_control_message(MessageKind.WATERMARK, body)
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.DAMAGED_DATA
    assert refusal.hint


@pytest.mark.parametrize("value", [b"", b"\x03{}", b"\xff", b"{}"])
def test_a_record_of_no_known_kind_is_refused(value: bytes) -> None:
    refusal = decode_message(value)
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.DAMAGED_DATA


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_a_refusal(value: bytes) -> None:
    read = decode_message(value)
    assert isinstance(read, Refusal) or encode_message(read) is not None


@given(st.integers(0, 200), st.integers(0, 255))
def test_a_changed_byte_is_another_message_or_a_refusal(place: int, other: int) -> None:
    value = bytearray(encode_message(says("task", 12_345)) or b"")
    value[place % len(value)] = other
    assert isinstance(decode_message(bytes(value)), Refusal | UserRecord | Watermark)
