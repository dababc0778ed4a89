"""The states of a run's lanes, as a table: when batches run, when lanes are bound, when fencing comes first.

Lanes are bound to executors under one incarnation. After a failure they are bound again, and where a lane of
the failed batch may still be writing, the incarnation is raised before that.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class BindingState(StrEnum):
    """The state of the lanes of a run, between two steps of the driver."""

    UNFENCED = "unfenced"
    """No lane is bound, and lanes that were bound before may still be writing."""
    UNBOUND = "unbound"
    """No lane is bound, and none writes under this incarnation any more."""
    PARTED = "parted"
    """Some lanes are lost and may still be writing; the others are bound, and wait for the fence."""
    RESTORING = "restoring"
    """The lanes are bound, and stores of some tasks are not yet as of their checkpoints."""
    READY = "ready"
    """The lanes are bound, and every task can work."""


class BindingEvent(StrEnum):
    """An event that happens to the lanes."""

    TASKS_MOVED = "tasks moved"
    """Tasks were assigned to other processors than those that ran them."""
    FENCED = "fenced"
    """The incarnation was raised: nothing of an earlier one is written any more."""
    BOUND = "bound"
    """Each lane has an executor of its own, and workers of this incarnation."""
    STORES_LEFT = "stores left"
    """After a batch, or at the start, stores are still to be restored."""
    STORES_RESTORED = "stores restored"
    """After a batch, or at the start, every store is as of its task's checkpoint."""
    LANES_LOST = "lanes lost"
    """Some lanes ended, and the others can go on without them."""
    FAILED = "failed"
    """Something failed, and lanes may still be writing."""
    MISPLACED = "misplaced"
    """Lanes came to other executors than their own; every lane has reported, and none writes any more."""
    RELEASED = "released"
    """Lanes closed their stores, to be bound to other processors."""
    SWITCHED = "switched"
    """Another model takes the place of the one that ran."""


class NextAction(StrEnum):
    """The driver's next action with the lanes."""

    FENCE = "raise the incarnation"
    BIND = "bind the lanes"
    RUN = "run a batch"


class ImpossibleTransitionError(Exception):
    """Something happened that cannot happen in this state: a fault of the driver."""


_BOUND = (BindingState.RESTORING, BindingState.READY)
_OPEN = (*_BOUND, BindingState.PARTED)
_UNBOUND = (BindingState.UNFENCED, BindingState.UNBOUND)
_TO_UNFENCED = dict.fromkeys(BindingState, BindingState.UNFENCED)
_TO_UNBOUND_OR_UNFENCED = {
    **dict.fromkeys(_UNBOUND + _BOUND, BindingState.UNBOUND),
    **dict.fromkeys((BindingState.UNFENCED, BindingState.PARTED), BindingState.UNFENCED),
}

_TRANSITIONS: Final[Mapping[BindingEvent, Mapping[BindingState, BindingState]]] = {
    BindingEvent.TASKS_MOVED: dict.fromkeys(_UNBOUND, BindingState.UNFENCED),
    BindingEvent.FENCED: {
        BindingState.UNFENCED: BindingState.UNBOUND,
        BindingState.PARTED: BindingState.RESTORING,
    },
    BindingEvent.BOUND: {BindingState.UNBOUND: BindingState.RESTORING},
    BindingEvent.STORES_LEFT: dict.fromkeys(_BOUND, BindingState.RESTORING),
    BindingEvent.STORES_RESTORED: dict.fromkeys(_BOUND, BindingState.READY),
    BindingEvent.LANES_LOST: dict.fromkeys(_OPEN, BindingState.PARTED),
    BindingEvent.FAILED: _TO_UNFENCED,
    BindingEvent.MISPLACED: _TO_UNBOUND_OR_UNFENCED,
    BindingEvent.RELEASED: _TO_UNBOUND_OR_UNFENCED,
    BindingEvent.SWITCHED: _TO_UNFENCED,
}
"""By event and state, the next state. A state that an event does not name refuses it."""

REFUSED: Final = frozenset(
    {
        *((BindingEvent.TASKS_MOVED, state) for state in _OPEN),
        (BindingEvent.FENCED, BindingState.UNBOUND),
        *((BindingEvent.FENCED, state) for state in _BOUND),
        (BindingEvent.BOUND, BindingState.UNFENCED),
        *((BindingEvent.BOUND, state) for state in _OPEN),
        *((BindingEvent.STORES_LEFT, state) for state in (*_UNBOUND, BindingState.PARTED)),
        *((BindingEvent.STORES_RESTORED, state) for state in (*_UNBOUND, BindingState.PARTED)),
        *((BindingEvent.LANES_LOST, state) for state in _UNBOUND),
    }
)
"""What cannot happen: above all, lanes are not bound before what may still be writing is fenced."""

_ACTIONS: Final = {
    BindingState.UNFENCED: NextAction.FENCE,
    BindingState.UNBOUND: NextAction.BIND,
    BindingState.PARTED: NextAction.FENCE,
    BindingState.RESTORING: NextAction.RUN,
    BindingState.READY: NextAction.RUN,
}


def complete_table(
    transitions: Mapping[BindingEvent, Mapping[BindingState, BindingState]],
    refused: frozenset[tuple[BindingEvent, BindingState]],
) -> Mapping[tuple[BindingEvent, BindingState], BindingState]:
    """The table by pairs; TypeError where a pair is neither named nor refused, or both."""
    table = {(event, state): after for event, row in transitions.items() for state, after in row.items()}
    every = {(event, state) for event in BindingEvent for state in BindingState}
    if wrong := every ^ table.keys() ^ refused:
        raise TypeError(f"neither a transition nor a refusal, or both: {sorted(wrong)}")
    return MappingProxyType(table)


TRANSITIONS: Final = complete_table(_TRANSITIONS, REFUSED)
"""By event and state, the next state."""


def next_state(state: BindingState, event: BindingEvent) -> BindingState:
    """The state after an event; ImpossibleTransitionError where it cannot happen in this state."""
    after = TRANSITIONS.get((event, state))
    if after is None:
        raise ImpossibleTransitionError(f"{event} while lanes are {state}")
    return after


def next_action(state: BindingState) -> NextAction:
    """The driver's next action."""
    return _ACTIONS[state]


def is_bound(state: BindingState) -> bool:
    """True if batches may run."""
    return next_action(state) is NextAction.RUN


def is_open(state: BindingState) -> bool:
    """True if there are lanes, even if they wait for a fence."""
    return state in _OPEN
