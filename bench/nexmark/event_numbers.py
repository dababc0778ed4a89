"""Which event has which number, kind, time and ids: the formulas of the published Nexmark model.

Of 50 events the first is a person, the next three are auctions, and the others are bids. All follows from the
number of the event alone, so that any slice of the events can be made by itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]  # one for each event
Bits = NDArray[np.uint64]

PERSONS, AUCTIONS, ROUND = 1, 3, 50
"""Of so many events in a row so many are persons and auctions; all others are bids."""
FIRST_ID = 1000
"""The lowest id of a person, and of an auction."""
LEAD = 10
"""So many persons and auctions may be named before their events come."""
HOT = 100
"""Of so many auctions or persons in a row one is hot."""
SCRAMBLE = 953
"""Coprime to sizes of groups that are usual: it reorders the times of a group."""

_STEP, _FIRST_FACTOR, _SECOND_FACTOR = (
    np.uint64(0x9E3779B97F4A7C15),
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
)


@dataclass(frozen=True, slots=True)
class EventModel:
    """The settings of the model, with the defaults that the field measures by."""

    rate: int = 10_000  # events in a second of event time
    beginning: int = 1_767_225_600_000  # milliseconds: 2026-01-01T00:00Z
    group: int = 1  # of so many events in a row the times are out of order
    hot_auctions: int = 2  # one of so many bids is for any auction, the others for the hot one
    hot_bidders: int = 4
    hot_sellers: int = 4
    open_auctions: int = 100  # bids are for one of the last so many
    active_persons: int = 1_000
    person_bytes: int = 200
    auction_bytes: int = 500
    bid_bytes: int = 100

    def times(self, numbers: Numbers) -> Numbers:
        """Milliseconds of these events."""
        within = numbers * SCRAMBLE % self.group
        return self.time_at(numbers // self.group * self.group + within)

    def time_at(self, numbers: Numbers) -> Numbers:
        """Milliseconds of so many events after the beginning."""
        return self.beginning + numbers * 1_000 // self.rate


def kinds(first: int, end: int) -> tuple[Numbers, Numbers, Numbers]:
    """The numbers of the persons, of the auctions and of the bids from one event to another."""
    numbers = np.arange(first, end, dtype=np.int64)
    place = numbers % ROUND
    bids = place >= PERSONS + AUCTIONS
    persons = place < PERSONS
    return numbers[persons], numbers[~(persons | bids)], numbers[bids]


def last_person(numbers: Numbers) -> Numbers:
    """The newest person as of each event, counted from 0."""
    within: Numbers = np.minimum(numbers % ROUND, PERSONS - 1)
    return numbers // ROUND * PERSONS + within


def last_auction(numbers: Numbers) -> Numbers:
    """The newest auction as of each event, counted from 0; -1 where there is none yet."""
    within: Numbers = np.clip(numbers % ROUND - PERSONS, -1, AUCTIONS - 1)
    return numbers // ROUND * AUCTIONS + within


def draws(numbers: Numbers, purpose: int) -> Bits:
    """64 random bits for each event, others for each purpose: a hash of the number (SplitMix64)."""
    mixed = numbers.astype(np.uint64) * np.uint64(64) + np.uint64(purpose)
    mixed *= _STEP
    for factor, shift in ((_FIRST_FACTOR, 30), (_SECOND_FACTOR, 27)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= factor
    mixed ^= mixed >> np.uint64(31)
    return mixed


def below(bits: Bits, limits: Numbers | int) -> Numbers:
    """Numbers from 0 to a limit, exclusive, of random bits."""
    limit = np.asarray(limits, np.uint64)
    scaled: Bits = (bits >> np.uint64(32)) * limit >> np.uint64(32)
    return scaled.astype(np.int64)
