"""When lanes may be bound and batches may run: the table, and whatever happens in whatever order."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.driver.executors.binding_states import (
    REFUSED,
    TRANSITIONS,
    BindingEvent,
    BindingState,
    ImpossibleTransitionError,
    NextAction,
    complete_table,
    is_bound,
    is_open,
    next_action,
    next_state,
)

UNFENCED, UNBOUND = BindingState.UNFENCED, BindingState.UNBOUND
PARTED, RESTORING, READY = BindingState.PARTED, BindingState.RESTORING, BindingState.READY
STATES = (UNFENCED, UNBOUND, PARTED, RESTORING, READY)
TABLE = {
    BindingEvent.TASKS_MOVED: (UNFENCED, UNFENCED, None, None, None),
    BindingEvent.FENCED: (UNBOUND, None, RESTORING, None, None),
    BindingEvent.BOUND: (None, RESTORING, None, None, None),
    BindingEvent.STORES_LEFT: (None, None, None, RESTORING, RESTORING),
    BindingEvent.STORES_RESTORED: (None, None, None, READY, READY),
    BindingEvent.LANES_LOST: (None, None, PARTED, PARTED, PARTED),
    BindingEvent.FAILED: (UNFENCED, UNFENCED, UNFENCED, UNFENCED, UNFENCED),
    BindingEvent.MISPLACED: (UNFENCED, UNBOUND, UNFENCED, UNBOUND, UNBOUND),
    BindingEvent.RELEASED: (UNFENCED, UNBOUND, UNFENCED, UNBOUND, UNBOUND),
    BindingEvent.SWITCHED: (UNFENCED, UNFENCED, UNFENCED, UNFENCED, UNFENCED),
}
"""By event, what follows from each state; None where it cannot happen."""


@pytest.mark.parametrize("event", BindingEvent)
def test_every_pair_of_event_and_state_is_a_transition_or_refused(event: BindingEvent) -> None:
    for state, after in zip(STATES, TABLE[event], strict=True):
        assert ((event, state) in REFUSED) is (after is None)
        if after is None:
            with pytest.raises(ImpossibleTransitionError, match=f"{event} while lanes are {state}"):
                next_state(state, event)
        else:
            assert next_state(state, event) is after


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (UNFENCED, NextAction.FENCE),
        (UNBOUND, NextAction.BIND),
        (PARTED, NextAction.FENCE),
        (RESTORING, NextAction.RUN),
        (READY, NextAction.RUN),
    ],
)
def test_each_state_says_what_is_done_next(state: BindingState, action: NextAction) -> None:
    assert next_action(state) is action
    assert is_bound(state) is (action is NextAction.RUN)
    assert is_open(state) is (state not in {UNFENCED, UNBOUND})


def test_a_table_without_a_pair_is_an_error() -> None:
    rows = {
        event: {state: after for (one, state), after in TRANSITIONS.items() if one is event}
        for event in BindingEvent
    }
    assert complete_table(rows, REFUSED) == TRANSITIONS
    with pytest.raises(TypeError, match="fenced"):
        complete_table(rows | {BindingEvent.FENCED: {}}, REFUSED)


def test_a_pair_that_is_both_named_and_refused_is_an_error() -> None:
    rows = {event: dict.fromkeys(BindingState, UNFENCED) for event in BindingEvent}
    with pytest.raises(TypeError, match="or both"):
        complete_table(rows, REFUSED)


@given(st.lists(st.sampled_from(BindingEvent), max_size=40))
def test_no_batch_runs_on_lanes_of_an_earlier_incarnation_nor_beside_writers(
    events: Sequence[BindingEvent],
) -> None:
    """What is tracked here by itself is what the states have to imply."""
    state = UNBOUND
    incarnation = 1
    bound_under: int | None = None  # the incarnation of the lanes that are bound
    parted = False  # whether there are lanes that wait for the fence of others
    may_write = False  # whether lanes that are not bound any more may still be writing
    for event in events:
        if (event, state) in REFUSED:
            continue
        state = next_state(state, event)
        match event:
            case BindingEvent.FENCED:
                incarnation, may_write = incarnation + 1, False
                bound_under, parted = incarnation if parted else None, False
            case BindingEvent.BOUND:
                assert not may_write
                bound_under = incarnation
            case BindingEvent.FAILED | BindingEvent.SWITCHED | BindingEvent.TASKS_MOVED:
                bound_under, parted, may_write = None, False, True
            case BindingEvent.LANES_LOST:
                assert bound_under is not None or parted
                bound_under, parted, may_write = None, True, True
            case BindingEvent.MISPLACED | BindingEvent.RELEASED:
                bound_under, parted = None, False
            case BindingEvent.STORES_LEFT | BindingEvent.STORES_RESTORED:
                assert bound_under is not None
        assert is_bound(state) is (bound_under == incarnation)
        assert may_write is (state in {UNFENCED, PARTED})
        assert parted is (state is PARTED)


@given(st.lists(st.sampled_from(BindingEvent), max_size=40))
def test_from_wherever_it_is_a_driver_comes_to_run_batches(events: Sequence[BindingEvent]) -> None:
    state = UNBOUND
    for event in events:
        state = state if (event, state) in REFUSED else next_state(state, event)
    done = {NextAction.FENCE: BindingEvent.FENCED, NextAction.BIND: BindingEvent.BOUND}
    for _ in done:
        if not is_bound(state):
            state = next_state(state, done[next_action(state)])
    assert next_action(state) is NextAction.RUN
