import json
from typing import Any

import pytest
from hypothesis import example, given

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.json_form import from_json, to_json
from streamapp.jobmodel.unreadable_data import ModelUnreadableError
from streamapp.spec.reasons import Reason
from tests.jobmodel.models import models, small

TEXT = to_json(small())


def edited(**changes: Any) -> str:
    """The document as a person edits it: without its checksum."""
    document = json.loads(TEXT)
    del document["checksum"]
    return json.dumps(document | changes)


def refusal(text: str | bytes) -> ModelUnreadableError:
    with pytest.raises(ModelUnreadableError) as caught:
        from_json(text)
    return caught.value


@given(models())
@example(small())
def test_any_model_comes_back_as_it_was(model: JobModel) -> None:
    assert from_json(to_json(model)) == model


def test_a_person_finds_a_line_for_each_processor_and_task() -> None:
    body, checksum, end = TEXT.rpartition('  "checksum": "sha256:')
    assert (
        body
        == """{
  "format": 1,
  "version": 3,
  "applicationId": "shop.page-views",
  "runId": "run-1",
  "processors": {
    "0": ["Partition 0", "stateless"],
    "1": ["Partition 1"],
    "2": []
  },
  "tasks": {
    "Partition 0": {"partitions": ["users#0", "views#0"], "changelog": 0},
    "Partition 1": {"partitions": ["views#1"], "changelog": 1},
    "stateless": {"partitions": ["clicks#7"]}
  },
  "broadcast": ["rates#0"],
"""
    )
    assert checksum
    assert len(end) == len('0123456789abcdef"\n}\n') + 48


def test_a_model_without_tasks_and_processors_has_its_document_too() -> None:
    empty = JobModel.of(version=0, run_id="", application_id="", tasks=[], processors={})
    assert from_json(to_json(empty)) == empty


def test_a_document_edited_by_hand_is_read_without_its_checksum() -> None:
    assert from_json(edited(runId="run-2")).run_id == "run-2"


def test_a_document_cut_off_anywhere_is_refused() -> None:
    for length in range(len(TEXT.rstrip())):
        assert refusal(TEXT[:length]).reason is Reason.DAMAGED_DATA


def test_a_document_with_any_one_byte_changed_is_refused_or_says_the_same() -> None:
    for place in range(len(TEXT)):
        for flip in (1, 2, 4, 8, 16, 32, 64, 128):
            changed = bytearray(TEXT.encode())
            changed[place] ^= flip
            try:
                assert from_json(bytes(changed)) == small()  # a space became a line break
            except ModelUnreadableError as error:
                assert error.reason is Reason.DAMAGED_DATA


def test_a_document_of_a_later_format_is_refused_and_the_message_says_what_to_do() -> None:
    error = refusal(edited(format=2, novelty=True))
    assert error.reason is Reason.NEWER_FORMAT
    assert "format 2" in error.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[]", "no JSON object"),
        ("{}", "format: Field required"),
        ("[" * 100_000, "recursion"),
        ("1" * 5_000, "digits"),
        (b"\xff", "can't decode"),
        (edited(format=0), "format: "),
        (edited(surprise=1), "surprise: Extra inputs"),
        (edited(version="3"), "version: Input should be a valid integer"),
        (edited(version=3.0), "version: Input should be a valid integer"),
        (edited(version=True), "version: Input should be a valid integer"),
        (edited(broadcast=["rates"]), "'rates' is no partition"),
        (edited(tasks={"a": {"partitions": [1]}}), "tasks.a.partitions.0: "),
        (edited().replace('"Partition 1":', '"Partition 0":'), "'Partition 0' is given twice"),
    ],
)
def test_a_document_that_says_something_else_is_refused_with_the_place(
    text: str | bytes, message: str
) -> None:
    error = refusal(text)
    assert message in str(error)
    assert error.reason is Reason.DAMAGED_DATA


def test_a_document_that_contradicts_itself_is_refused_with_the_contradiction() -> None:
    error = refusal(edited(processors={"0": ["Partition 0", "Partition 1"]}))
    assert error.reason is Reason.INVALID_JOB_MODEL
    assert "tasks on no processor: stateless" in str(error)


def test_a_document_nested_to_any_depth_is_refused() -> None:
    for depth in range(1, 1_200):
        nested = "[" * depth + "]" * depth
        assert refusal(f'{{"checksum": "sha256:", "surprise": {nested}}}').reason is Reason.DAMAGED_DATA


def test_a_name_with_half_a_character_is_refused_with_and_without_a_checksum() -> None:
    for text in (TEXT, edited()):
        error = refusal(text.replace("run-1", "\\ud800"))
        assert error.reason in (Reason.DAMAGED_DATA, Reason.INVALID_JOB_MODEL)
