from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.model_content import content_hash, next_version
from streamapp.tasks.partition import Partition
from tests.harness.core.job_models import models, small


def test_the_hash_is_taken_over_sorted_json_without_the_version() -> None:
    written = (
        '{"applicationId":"shop.page-views","broadcast":["rates#0"],'
        '"processors":{"0":["Partition 0","stateless"],"1":["Partition 1"],"2":[]},"runId":"run-1",'
        '"tasks":{"Partition 0":{"changelog":0,"partitions":["users#0","views#0"]},'
        '"Partition 1":{"changelog":1,"partitions":["views#1"]},"stateless":{"partitions":["clicks#7"]}}}'
    )
    assert content_hash(small()) == sha256(written.encode()).hexdigest()


def test_two_versions_of_the_same_content_have_one_hash() -> None:
    assert content_hash(small(version=3)) == content_hash(small(version=4))


@pytest.mark.parametrize(
    "change",
    [
        {"run_id": "run-2"},
        {"application_id": "shop.clicks"},
        {"owners": (0, 1, 1)},
        {"broadcast": ()},
        {"broadcast": (Partition("rates", 1),)},
        {"tasks": (replace(small().tasks[0], changelog=None), *small().tasks[1:])},
    ],
)
def test_any_other_change_gives_another_hash(change: dict[str, Any]) -> None:
    assert content_hash(replace(small(), **change)) != content_hash(small())


@given(models(), models())
def test_hashes_are_equal_exactly_where_the_content_is(one: JobModel, other: JobModel) -> None:
    assert (content_hash(one) == content_hash(other)) == (one == replace(other, version=one.version))


def test_the_first_model_is_published_as_it_is() -> None:
    assert next_version(None, small(version=0)).version == 0


@given(st.integers(0, 2**52))
def test_the_same_content_keeps_the_published_model(version: int) -> None:
    assert next_version(small(), small(version=version)) == small()


@given(st.integers(0, 2**52))
def test_other_content_takes_the_next_version_whatever_it_was_proposed_with(version: int) -> None:
    proposed = replace(small(version=version), owners=(1, 1, 1))
    assert next_version(small(version=3), proposed) == replace(proposed, version=4)
