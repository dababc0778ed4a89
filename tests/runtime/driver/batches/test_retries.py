"""Tasks that wait for something that is away get rows again, at longer and longer intervals."""

from streamapp_runtime.driver.batches.retries import (
    TABLE_BACKOFF,
    RemoteTableBackoff,
)


def test_tasks_that_wait_are_held_twice_as_long_each_time_and_never_very_long() -> None:
    now = [0.0]
    backoff = RemoteTableBackoff(lambda: now[0])
    expected = TABLE_BACKOFF.first
    for number in range(12):
        assert backoff.note({"a": "away"}, {"a", "b"}) == (number == 0)
        now[0] += 0.99 * expected
        assert backoff.paused() == {"a"}
        now[0] += 0.02 * expected
        assert backoff.paused() == frozenset()
        expected = min(2 * expected, TABLE_BACKOFF.longest)
    assert expected == TABLE_BACKOFF.longest


def test_a_batch_without_the_tasks_that_wait_says_nothing_of_them() -> None:
    backoff = RemoteTableBackoff(lambda: 0.0)
    backoff.note({"a": "away"}, {"a"})
    backoff.note({}, {"b"})
    assert backoff.paused() == {"a"}


def test_a_task_that_was_given_rows_and_waits_no_more_is_forgotten() -> None:
    backoff = RemoteTableBackoff(lambda: 0.0)
    backoff.note({"a": "away"}, {"a"})
    backoff.note({}, {"a"})
    assert backoff.paused() == frozenset()
    assert backoff.note({"a": "away"}, {"a"})
