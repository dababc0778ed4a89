"""The events of the Nexmark bench are those of the published model, whichever slice of them is made."""

import json
from functools import cache
from itertools import pairwise
from math import log

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from bench.nexmark.event_numbers import EventModel, draws, last_auction, last_person
from bench.nexmark.event_records import records
from bench.nexmark.events import events, side_input
from streamapp_runtime.systems.stream_system import RECORDS

MASK = (1 << 64) - 1


@cache
def sample() -> dict[str, pa.RecordBatch]:
    return events(0, 100_000)


def column(stream: str, name: str) -> np.ndarray:
    return sample()[stream].column(name).to_numpy(zero_copy_only=False)


def share(is_so: object) -> float:
    return float(np.mean(np.asarray(is_so)))


def test_of_50_events_one_is_a_person_three_are_auctions_and_46_are_bids() -> None:
    assert {stream: len(rows) for stream, rows in sample().items()} == {
        "person": 2_000,
        "auction": 6_000,
        "bid": 92_000,
    }


def test_any_slices_of_events_are_the_events_of_the_whole() -> None:
    cuts = [0, 1, 3, 50, 777, 5_000, 5_001, 9_999]
    for stream, whole in events(0, cuts[-1]).items():
        parts = [events(first, end)[stream] for first, end in pairwise(cuts)]
        assert pa.Table.from_batches(parts).combine_chunks() == pa.Table.from_batches([whole])


def test_the_newest_ids_are_those_that_have_come() -> None:
    persons, auctions = -1, -1
    for number in range(500):
        persons += number % 50 == 0
        auctions += number % 50 in {1, 2, 3}
        assert last_person(np.array([number])).tolist() == [persons]
        assert last_auction(np.array([number])).tolist() == [auctions]
    for stream in ("person", "auction"):
        ids = column(stream, "id")
        assert ids.tolist() == list(range(1_000, 1_000 + len(ids)))


def test_names_are_of_persons_and_auctions_that_exist_or_are_among_the_next_ten() -> None:
    numbers = np.arange(len(sample()["bid"]) // 46 * 50)
    bids, auctions = numbers[numbers % 50 >= 4], numbers[(numbers % 50 >= 1) & (numbers % 50 < 4)]
    newest_auction, newest_person = last_auction(bids) + 1_000, last_person(bids) + 1_000
    assert (column("bid", "auction") <= newest_auction + 10).all()
    assert (column("bid", "auction") >= np.maximum(newest_auction // 100 * 100 - 100, 1_000)).all()
    assert (column("bid", "bidder") <= newest_person + 10).all()
    assert (column("auction", "seller") <= last_person(auctions) + 1_010).all()
    assert (column("bid", "bidder") >= 1_000).all()
    assert 0 < share(column("bid", "auction") > newest_auction) < 0.1
    assert 0 < share(column("auction", "seller") > last_person(auctions) + 1_000) < 0.1


def test_shares_of_what_is_hot_are_those_of_the_model() -> None:
    assert share((column("bid", "auction") - 1_000) % 100 == 0) == pytest.approx(0.505, abs=0.01)
    assert share((column("bid", "bidder") - 1_000) % 100 == 1) == pytest.approx(0.7525, abs=0.01)
    assert share((column("auction", "seller") - 1_000) % 100 == 0) == pytest.approx(0.7525, abs=0.02)
    is_cold = pc.starts_with(sample()["bid"].column("channel"), "channel-")
    assert share(is_cold) == pytest.approx(0.5, abs=0.01)
    with_id = pc.match_substring(sample()["bid"].column("url"), "&channel_id=")
    assert share(with_id) == pytest.approx(0.45, abs=0.02)
    assert not pc.any(pc.and_(with_id, pc.invert(is_cold))).as_py()


def test_prices_are_even_over_six_powers_of_ten() -> None:
    prices = np.log(column("bid", "price")) / log(10)
    assert prices.min() >= 2
    assert prices.max() <= 8
    assert np.histogram(prices, 6, (2, 8))[0] / len(prices) == pytest.approx([1 / 6] * 6, abs=0.01)


def test_rows_are_as_large_on_average_as_the_model_says() -> None:
    person, auction, bid = sample()["person"], sample()["auction"], sample()["bid"]
    texts = ("name", "emailAddress", "creditCard", "city", "state", "extra")
    assert 8 + mean_length(person, *texts) == pytest.approx(200, abs=2)
    assert 48 + mean_length(auction, "itemName", "description", "extra") == pytest.approx(500, abs=3)
    assert 32 + mean_length(bid, "extra") == pytest.approx(100, abs=1)


def mean_length(rows: pa.RecordBatch, *names: str) -> float:
    return sum(pc.mean(pc.utf8_length(rows.column(name))).as_py() for name in names)


def test_times_follow_the_rate_and_auctions_last_as_long_as_a_hundred_are_open() -> None:
    times = column("bid", "dateTime").astype("datetime64[ms]").astype(np.int64)
    assert (np.diff(times) >= 0).all()
    assert times[-1] - times[0] == 9_999
    length = (column("auction", "expires") - column("auction", "dateTime")).astype("timedelta64[ms]")
    assert length.astype(np.int64).min() == 1
    assert length.astype(np.int64).max() <= 334
    assert length.astype(np.int64).mean() == pytest.approx(167, abs=5)


def test_times_are_out_of_order_within_a_group_only() -> None:
    numbers = np.arange(10_000)
    times = EventModel(group=1_000, rate=1_000).times(numbers)
    assert (np.diff(times) < 0).any()
    grouped = times.reshape(-1, 1_000)
    assert (np.sort(grouped) == (EventModel().beginning + numbers).reshape(-1, 1_000)).all()


def test_random_bits_are_those_of_the_published_hash() -> None:
    def mixed(number: int, purpose: int) -> int:
        state = (number * 64 + purpose) * 0x9E3779B97F4A7C15 & MASK
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & MASK
        return state ^ state >> 31

    numbers = [0, 1, 49, 123_456_789]
    for purpose in (0, 7, 38):
        assert draws(np.array(numbers), purpose).tolist() == [mixed(number, purpose) for number in numbers]


def test_a_record_is_a_row_under_its_key_with_its_time() -> None:
    for stream, rows in events(0, 200).items():
        (batch,) = records(stream, 0, 200)
        assert batch.schema == RECORDS
        for record, row in zip(batch.to_pylist(), rows.to_pylist(), strict=True):
            value = json.loads(record["value"])
            time = row["dateTime"]
            assert value.keys() == row.keys()
            assert record["key"].decode() == str(row["auction" if stream == "bid" else "id"])
            assert record["timestamp"] == int(time.timestamp() * 1_000)
            assert value["dateTime"] == time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            assert [value[name] for name in value if not name.startswith(("dateTime", "expires"))] == [
                row[name] for name in row if not name.startswith(("dateTime", "expires"))
            ]


def test_the_side_input_has_each_number_once() -> None:
    assert side_input(5).to_pylist() == [{"key": number, "value": str(number)} for number in range(5)]
    (batch,) = records("side_input", 0, 0)
    assert len(batch) == 10_000
