from dataclasses import replace

from streamapp.tasks.layouts.layout_merge import merged_layout
from streamapp.tasks.layouts.split import settle_split
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed

FIRST = formed({"views": 2})
GROWN = formed({"views": 4}, FIRST, now=1.0)
TWICE = formed({"views": 8}, GROWN, now=9.0)
ENDS = {Partition("views", index): 7 for index in range(2)}


def test_split_offsets_that_the_author_of_a_model_did_not_know_are_kept() -> None:
    (split,) = GROWN.layout.splits
    kept = replace(GROWN.layout, splits=(settle_split(split, ENDS),), ends=ENDS)
    found = merged_layout(kept, TWICE.layout)
    assert [(one.before, one.offsets) for one in found.splits] == [(2, (7, 7)), (4, None)]
    assert found.ends == ENDS
    assert found.streams == TWICE.layout.streams


def test_a_split_that_is_finished_does_not_come_back() -> None:
    kept = replace(GROWN.layout, splits=())
    assert [one.before for one in merged_layout(kept, TWICE.layout).splits] == [4]


def test_growths_the_kept_layout_has_not_seen_are_taken_over() -> None:
    assert merged_layout(FIRST.layout, TWICE.layout).splits == TWICE.layout.splits
