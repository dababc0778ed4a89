"""The events of the Nexmark model as Arrow tables: persons, auctions and bids, from one number to another."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bench.nexmark import event_texts as texts
from bench.nexmark.event_numbers import (
    AUCTIONS,
    FIRST_ID,
    HOT,
    LEAD,
    ROUND,
    EventModel,
    Numbers,
    below,
    draws,
    kinds,
    last_auction,
    last_person,
)

FIRST_CATEGORY, CATEGORIES = 10, 5
HIGHEST_PRICE = 6
"""Prices are 10 to the power of 0 to 6, in cents."""

COLUMNS: Final[Mapping[str, str]] = {
    "person": (
        "id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING, "
        "dateTime TIMESTAMP, extra STRING"
    ),
    "auction": (
        "id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT, "
        "dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING"
    ),
    "bid": (
        "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP, "
        "extra STRING"
    ),
    "side_input": "key BIGINT, value STRING",
}
"""The columns of each stream, as the apps declare them."""
KEYS: Final[Mapping[str, str]] = {"person": "id", "auction": "id", "bid": "auction", "side_input": "key"}
"""The column by which producers partition each stream."""


def events(first: int, end: int, model: EventModel | None = None) -> dict[str, pa.RecordBatch]:
    """The events from one number to another, exclusive, by stream, each in the order of its numbers."""
    model = model or EventModel()
    made = (_persons, _auctions, _bids)
    return {
        stream: make(numbers, model)
        for stream, make, numbers in zip(COLUMNS, made, kinds(first, end), strict=False)
    }


def side_input(rows: int = 10_000) -> pa.RecordBatch:
    """The bounded input of q13: numbers, and each as a text."""
    keys = pa.array(np.arange(rows))
    return pa.record_batch({"key": keys, "value": keys.cast(pa.string())})


def _persons(numbers: Numbers, model: EventModel) -> pa.RecordBatch:
    name = pc.binary_join_element_wise(
        _choice(texts.FIRST_NAMES, numbers, 10), _choice(texts.LAST_NAMES, numbers, 11), " "
    )
    user, host = (_taken(texts.words(size), numbers, size + 8) for size in (7, 5))
    email = pc.binary_join_element_wise(pc.binary_join_element_wise(user, host, "@"), "com", ".")
    card = pc.binary_join_element_wise(*(_taken(texts.four_digits(), numbers, 16 + n) for n in range(4)), " ")
    city, state = _choice(texts.CITIES, numbers, 20), _choice(texts.STATES, numbers, 21)
    size = 8 + np.sum([_sizes(text) for text in (name, email, card, city, state)], axis=0)
    return pa.record_batch(
        {
            "id": last_person(numbers) + FIRST_ID,
            "name": name,
            "emailAddress": email,
            "creditCard": card,
            "city": city,
            "state": state,
            "dateTime": _timestamps(model.times(numbers)),
            "extra": _extra(numbers, model.person_bytes, size),
        }
    )


def _auctions(numbers: Numbers, model: EventModel) -> pa.RecordBatch:
    is_hot = below(draws(numbers, 22), model.hot_sellers) > 0
    seller = np.where(is_hot, last_person(numbers) // HOT * HOT, _any_person(numbers, model, 23))
    initial = _prices(numbers, 24)
    item, description = (_taken(texts.words(size), numbers, size + 10) for size in (20, 100))
    size = 8 + _sizes(item) + _sizes(description) + 5 * 8
    times = model.times(numbers)
    return pa.record_batch(
        {
            "id": last_auction(numbers) + FIRST_ID,
            "itemName": item,
            "description": description,
            "initialBid": initial,
            "reserve": initial + _prices(numbers, 25),
            "dateTime": _timestamps(times),
            "expires": _timestamps(times + _lengths(numbers, model)),
            "seller": seller + FIRST_ID,
            "category": FIRST_CATEGORY + below(draws(numbers, 26), CATEGORIES),
            "extra": _extra(numbers, model.auction_bytes, size),
        }
    )


def _bids(numbers: Numbers, model: EventModel) -> pa.RecordBatch:
    newest, person = last_auction(numbers), last_person(numbers)
    is_hot = below(draws(numbers, 27), model.hot_auctions) > 0
    oldest = np.maximum(newest - model.open_auctions, 0)
    any_auction = oldest + below(draws(numbers, 28), newest - oldest + 1 + LEAD)
    by_hot = below(draws(numbers, 29), model.hot_bidders) > 0
    # The second person of each hundred, so that hot bidders are no hot sellers.
    bidder = np.where(by_hot, person // HOT * HOT + 1, _any_person(numbers, model, 32))
    known = texts.channels()
    bits = draws(numbers, 33)
    hot_channels = len(texts.HOT_CHANNELS)
    any_channel = hot_channels + below(bits << np.uint64(32), texts.CHANNELS)
    channel = pa.array(
        np.where(bits >> np.uint64(63), any_channel, below(bits << np.uint64(1), hot_channels))
    )
    return pa.record_batch(
        {
            "auction": np.where(is_hot, newest // HOT * HOT, any_auction) + FIRST_ID,
            "bidder": bidder + FIRST_ID,
            "price": _prices(numbers, 34),
            "channel": known.names.take(channel),
            "url": known.urls.take(channel),
            "dateTime": _timestamps(model.times(numbers)),
            "extra": _taken(texts.bid_extras(model.bid_bytes - 4 * 8), numbers, 35),
        }
    )


def _any_person(numbers: Numbers, model: EventModel, purpose: int) -> Numbers:
    """An active person, or one of the next few."""
    persons = last_person(numbers) + 1
    active = np.minimum(persons, model.active_persons)
    return persons - active + below(draws(numbers, purpose), active + LEAD)


def _lengths(numbers: Numbers, model: EventModel) -> Numbers:
    """How long auctions last: about as long as it takes until as many have come as are open at once."""
    ahead = model.open_auctions * ROUND // AUCTIONS
    horizon = model.time_at(numbers + ahead) - model.time_at(numbers)
    return 1 + below(draws(numbers, 36), np.maximum(2 * horizon, 1))


def _prices(numbers: Numbers, purpose: int) -> Numbers:
    exponent = (draws(numbers, purpose) >> np.uint64(11)) * (HIGHEST_PRICE / (1 << 53))
    prices: NDArray[np.float64] = np.rint(100 * np.power(10.0, exponent))
    return prices.astype(np.int64)


def _choice(values: tuple[str, ...], numbers: Numbers, purpose: int) -> pa.StringArray:
    return _taken(pa.array(values), numbers, purpose)


def _taken(values: pa.StringArray, numbers: Numbers, purpose: int) -> pa.StringArray:
    return values.take(pa.array(below(draws(numbers, purpose), len(values))))


def _sizes(values: pa.StringArray) -> Numbers:
    sizes: Numbers = pc.utf8_length(values).to_numpy()
    return sizes.astype(np.int64)


def _extra(numbers: Numbers, size: int, taken: Numbers) -> pa.StringArray:
    """What an event lacks to its size, give or take a fifth."""
    lengths = texts.around(draws(numbers, 37), size - taken)
    return texts.of_length(lengths, draws(numbers, 38))


def _timestamps(milliseconds: Numbers) -> pa.TimestampArray:
    return pa.array(milliseconds * 1_000).cast(pa.timestamp("us", "UTC"))
