"""One record is found by halving, whatever makes a batch fail."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.bad_records.bad_record_search import FAILURES_BEFORE, BadRecordSearch
from streamapp_runtime.driver.bad_records.bisection import BadRecord, TrialFailure, find_bad_record, halves
from streamapp_runtime.driver.bad_records.search_watch import (
    NOTE_SECONDS,
    SEARCH_SECONDS,
    SearchProgress,
    SearchStoppedError,
    SearchTimeoutError,
    SearchWatch,
)
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.records.rejection_policy import RejectionLimit, RejectionPolicy

BAD = TrialFailure("bad")
SKIP = RejectionPolicy("skip")
Place = tuple[str, int, int]


def key_of(place: Place) -> bytes | None:
    return None if place[2] == 4 else b"k"


def demand(stream: str, start: int, lag: int) -> PendingRange:
    return PendingRange(f"task {stream}", Partition(stream, 0), start, start + lag)


def search_for(
    policies: Mapping[RejectionCause, RejectionPolicy], watch: SearchWatch | None = None
) -> BadRecordSearch:
    return BadRecordSearch(policies, key_of, watch or SearchWatch(lambda: 0.0))


batches = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40)), min_size=1, max_size=5).map(
    lambda spans: [demand(f"s{n}", start, lag) for n, (start, lag) in enumerate(spans)]
)


def places(batch: Sequence[PendingRange]) -> list[Place]:
    return [(d.partition.stream, d.partition.index, at) for d in batch for at in range(d.start, d.end)]


def suspect(search: BadRecordSearch, batch: Sequence[PendingRange]) -> None:
    """A batch of these records fails."""
    search.begin(batch)
    search.note_failure()


@given(batches)
def test_halves_hold_each_record_once_and_differ_by_one_at_most(batch: list[PendingRange]) -> None:
    first, second = halves(batch)
    assert places(first) + places(second) == places(batch)
    assert 0 <= len(places(second)) - len(places(first)) <= 1


@given(batches, st.data())
def test_one_of_the_records_on_which_a_batch_fails_is_found(
    batch: list[PendingRange], data: st.DataObject
) -> None:
    every = places(batch)
    wrong = data.draw(st.sets(st.sampled_from(every), min_size=1))
    trials: list[int] = []

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        trials.append(len(places(part)))
        return BAD if wrong & set(places(part)) else None

    found = find_bad_record(batch, trial)
    assert isinstance(found, BadRecord)
    assert (found.stream, found.partition, found.offset) in wrong
    assert len(trials) <= 1 + 2 * len(every).bit_length()


@given(batches, st.data())
def test_of_records_that_fail_only_together_one_is_found(
    batch: list[PendingRange], data: st.DataObject
) -> None:
    wrong = data.draw(st.sets(st.sampled_from(places(batch)), min_size=1, max_size=3))
    found = find_bad_record(batch, lambda part: BAD if wrong <= set(places(part)) else None)
    assert found is not None
    assert (found.stream, found.partition, found.offset) in wrong


@given(batches)
def test_a_batch_that_does_not_fail_again_has_no_culprit(batch: list[PendingRange]) -> None:
    assert find_bad_record(batch, lambda _: None) is None


def test_a_batch_that_fails_without_any_record_has_no_culprit() -> None:
    assert find_bad_record([], lambda _: BAD) is None


@given(batches, st.data())
def test_records_that_can_be_named_are_named_at_once_and_only_for_others_are_halves_tried(
    batch: list[PendingRange], data: st.DataObject
) -> None:
    every = places(batch)
    wrong = data.draw(st.sets(st.sampled_from(every)))
    unnamed = data.draw(st.sets(st.sampled_from(sorted(wrong)), max_size=2)) if wrong else set()
    trials = search_for(dict.fromkeys(RejectionCause, SKIP))
    suspect(trials, batch)
    tried: list[int] = []

    def naming(part: Sequence[PendingRange]) -> dict[Place, str]:
        return dict.fromkeys((wrong - unnamed) & set(places(part)), "named")

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        tried.append(len(places(part)))
        return TrialFailure("tried") if (wrong - trials.bad.keys()) & set(places(part)) else None

    for _ in trials.search(naming, trial):
        pass
    reasons = {place: record.reason for place, record in trials.bad.items()}
    assert reasons == dict.fromkeys(wrong, "named") | dict.fromkeys(unnamed, "tried")
    assert len(tried) <= 1 + len(unnamed) * (2 + 2 * len(every).bit_length())
    assert trials.suspects == ()


def test_an_app_that_wants_to_end_at_a_bad_record_is_told_the_first_that_was_named() -> None:
    trials = search_for(dict.fromkeys(RejectionCause, RejectionPolicy()))
    suspect(trials, [demand("s", 0, 9)])
    with pytest.raises(FinalFailureError, match='s#0 at offset 3, key "k": by zero'):
        next(trials.search(lambda _: {("s", 0, 7): "other", ("s", 0, 3): "by zero"}, lambda _: None))


@given(st.integers(1, 20), st.integers(1, 8))
def test_what_fails_on_every_record_is_searched_no_further_than_its_bound_at_one_trial_each(
    records: int, bound: int
) -> None:
    policy = RejectionPolicy("skip", RejectionLimit(1.0, 100, bound))
    search = search_for(dict.fromkeys(RejectionCause, policy))
    batch = [demand("s", 5, records)]
    suspect(search, batch)
    tried: list[list[Place]] = []

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        tried.append(places(part))
        return TrialFailure("KeyError", RejectionCause.CODE)

    next(search.search(lambda _: {}, trial))
    assert sorted(search.bad) == places(batch)[: bound + 1]
    assert {record.cause for record in search.bad.values()} == {RejectionCause.CODE}
    assert len(tried) <= 2 + records.bit_length() + bound


def test_an_app_that_ends_at_errors_of_its_code_says_so_though_it_skips_bad_records() -> None:
    search = search_for({RejectionCause.RECORD: SKIP, RejectionCause.CODE: RejectionPolicy()})
    suspect(search, [demand("s", 4, 1)])
    with pytest.raises(FinalFailureError, match="the app's own code fails on a record: s#0 at offset 4: bad"):
        next(search.search(lambda _: {}, lambda _: TrialFailure("bad", RejectionCause.CODE)))


@given(batches, st.data())
def test_a_failure_that_may_be_chance_is_believed_when_it_comes_again_of_the_record_alone(
    batch: list[PendingRange], data: st.DataObject
) -> None:
    every = places(batch)
    wrong = data.draw(st.sets(st.sampled_from(every), min_size=1))
    died: list[Place] = []

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        hit = wrong & set(places(part))
        died.extend(places(part) if len(places(part)) == 1 and hit else ())
        return TrialFailure("died", RejectionCause.CODE, doubtful=True) if hit else None

    record = find_bad_record(batch, trial)
    assert record is not None
    assert record.place in wrong
    assert died.count(record.place) >= 2


@given(batches, st.integers(0, 12))
def test_processes_that_are_killed_by_chance_cast_no_doubt_on_a_record(
    batch: list[PendingRange], kills: int
) -> None:
    left = kills if kills <= 2 * len(places(batch)).bit_length() else 0
    tried: list[list[Place]] = []

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        tried.append(places(part))
        again = len(tried) > 1 and tried[-2] == tried[-1]  # nobody kills twice at the same place
        killed = len(tried) <= left and not again
        return TrialFailure("killed", RejectionCause.CODE, doubtful=True) if killed else None

    assert find_bad_record(batch, trial) is None


def test_what_fails_on_a_whole_batch_and_on_no_part_is_no_records_fault() -> None:
    batch = [demand("s", 0, 16)]

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        too_much = len(places(part)) > 8
        return TrialFailure("no memory", RejectionCause.CODE, doubtful=True) if too_much else None

    assert find_bad_record(batch, trial) is None


def test_a_batch_that_read_other_records_clears_no_suspect() -> None:
    search = search_for({})
    users, views = demand("users", 0, 9), demand("views", 0, 9)
    suspect(search, [users, views])
    search.begin([users])
    assert not search.note_success([users, views])
    assert search.due(FAILURES_BEFORE)
    search.begin([demand("views", 0, 5)])
    assert not search.note_success([demand("views", 0, 20)])
    assert search.suspects == (demand("views", 5, 4),)
    search.begin([demand("views", 5, 15)])
    assert search.note_success([demand("views", 5, 15)])
    assert not search.due(FAILURES_BEFORE)


def test_what_a_table_has_taken_although_its_batch_failed_is_suspected_no_longer() -> None:
    search = search_for({})
    suspect(search, [demand("users", 0, 9)])
    search.begin([demand("views", 0, 9)])
    assert search.note_success([demand("views", 0, 9)])


def test_a_record_that_costs_a_worker_costs_few_of_them_where_it_is_among_the_last() -> None:
    batch, costs = [demand("s", 0, 1024)], []

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        if ("s", 0, 1023) not in places(part):
            return None
        costs.append(part)
        return TrialFailure("died", RejectionCause.CODE, doubtful=True)

    record = find_bad_record(batch, trial)
    assert record is not None
    assert record.place == ("s", 0, 1023)
    assert len(costs) == 3, "the whole batch, and the record twice"


def test_a_search_says_that_it_begins_and_from_time_to_time_how_far_it_is() -> None:
    now, notes = 0.0, list[SearchProgress]()
    search = search_for(dict.fromkeys(RejectionCause, SKIP), SearchWatch(lambda: now, note=notes.append))
    suspect(search, [demand("views", 0, 1_000), demand("users", 0, 24)])

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        nonlocal now
        now += NOTE_SECONDS / 2
        return BAD if ("views", 0, 700) in places(part) and not search.bad else None

    for _ in search.search(lambda _: {}, trial):
        pass
    assert notes[0].text == (
        "a batch fails again and again: bad records are searched for among 1,024 of users, views"
    )
    assert notes[1].text == (
        "bad records are searched for among 1,024 of users, views: 0 found in 10 s, trial 4 has 512 records"
    )
    assert len(notes) == 1 + now // NOTE_SECONDS


def test_a_search_ends_when_its_time_is_over_and_what_it_found_is_known() -> None:
    now = 0.0
    search = search_for(dict.fromkeys(RejectionCause, SKIP), SearchWatch(lambda: now))
    suspect(search, [demand("views", 0, 4_096)])
    wrong = {("views", 0, offset) for offset in range(7, 4_096, 64)}

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        nonlocal now
        now += SEARCH_SECONDS / 50
        return BAD if (wrong - search.bad.keys()) & set(places(part)) else None

    with pytest.raises(SearchTimeoutError, match=r"[1-9] found in"):
        for _ in search.search(lambda _: {}, trial):
            pass
    assert now <= SEARCH_SECONDS * 1.1
    assert 0 < len(search.bad) < len(wrong)
    assert search.bad.keys() <= wrong


def test_a_run_that_is_to_stop_ends_its_search_before_the_next_trial() -> None:
    tried: list[int] = []
    search = search_for(
        dict.fromkeys(RejectionCause, SKIP), SearchWatch(lambda: 0.0, lambda: len(tried) >= 3)
    )
    suspect(search, [demand("views", 0, 1_000)])

    def trial(part: Sequence[PendingRange]) -> TrialFailure | None:
        tried.append(len(places(part)))
        return BAD

    with pytest.raises(SearchStoppedError):
        next(search.search(lambda _: {}, trial))
    assert len(tried) == 3
