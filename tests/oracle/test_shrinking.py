"""Cases made small, and cases that are the same for the same seed."""

from tests.oracle.cases.case import Case, Send
from tests.oracle.cases.data_generator import random_case
from tests.oracle.shrinking import shrunk


def _has_null_key(case: Case) -> bool:
    sends = [step for step in case.steps if isinstance(step, Send)]
    return any(record.key is None for step in sends for record in step.records)


def test_a_case_is_made_small_while_it_still_fails() -> None:
    seed = next(seed for seed in range(1_000) if _has_null_key(random_case(seed)))
    small = shrunk(random_case(seed), _has_null_key)
    (step,) = small.steps
    assert isinstance(step, Send)
    assert len(step.records) == 1
    assert len(small.spec["operators"]) <= 1
    assert (small.partitions, small.processors) == (1, 1)


def test_a_seed_gives_one_case() -> None:
    assert repr(random_case(7)) == repr(random_case(7))
