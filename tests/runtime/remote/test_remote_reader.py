"""A remote table as a lane reads it: every key once in a batch, and what is remembered longer."""

from ast import literal_eval
from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.state.lookup_result import LookupResult
from streamapp_runtime.operators.state.remote_lookup import RemoteTableRetryError, RemoteTableUnavailableError
from streamapp_runtime.remote.remote_reader import RemoteReader
from tests.harness.engine.remote_table_settings import of
from tests.harness.user_code.remote_table_code import PRICES, Failing, Prices, ServiceError

KEYS = [b"a", b"b", b"c", b"d", None]


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    Prices.log.clear()
    yield
    Failing.failures.clear()
    Failing.asked.clear()


def names(found: LookupResult) -> list[str | None]:
    return found.rows["name"].take(found.places).to_pylist()


def asked_for() -> list[str]:
    return [line for line in Prices.log if line.startswith("get")]


@given(
    st.lists(st.lists(st.lists(st.sampled_from(KEYS), unique=True)), max_size=4), st.sampled_from([0, 2, 9])
)
def test_each_key_finds_its_row_and_is_asked_for_once_in_a_batch(
    batches: list[list[list[bytes | None]]], size: int
) -> None:
    Prices.log.clear()
    reader = RemoteReader(of("Prices", cache_size=size))
    counted: Counter[str] = Counter()
    for batch in batches:
        reader.begin()
        before = counted.copy()
        for keys in batch:
            found = reader.find(pa.array(keys, pa.binary()), lambda name, n: counted.update({name: n}))
            assert names(found) == [PRICES[k]["name"] if k in PRICES else None for k in keys]
        looked_up = {key for keys in batch for key in keys} - {None}
        assert (counted - before).total() == len(looked_up)
    assert counted["remoteAsked"] == sum(len(literal_eval(line[4:])) for line in asked_for())
    if size == 9 and batches:
        every = {key for batch in batches for keys in batch for key in keys}
        assert counted["remoteAsked"] == len(every - {None})
    reader.close()


def test_an_answer_in_the_cache_is_good_for_so_long() -> None:
    now = [0.0]
    reader = RemoteReader(of("Prices", cache_size=4, cache_seconds=10.0), lambda: now[0])
    for now[0] in (0.0, 10.0, 10.1):
        reader.begin()
        reader.find(pa.array([b"a", b"z"]), lambda *_: None)
    assert asked_for() == ["get [b'a', b'z']"] * 2


def test_within_a_batch_a_key_keeps_its_answer_however_long_that_takes() -> None:
    now = [0.0]
    reader = RemoteReader(of("Prices", cache_size=4, cache_seconds=1.0), lambda: now[0])
    for now[0] in (0.0, 50.0):
        reader.find(pa.array([b"a"]), lambda *_: None)
    assert len(asked_for()) == 1


@pytest.mark.parametrize(
    ("choice", "kind"), [("wait", RemoteTableRetryError), ("fail", RemoteTableUnavailableError)]
)
def test_a_table_that_is_away_is_told_by_its_name(
    choice: str, kind: type[RemoteTableUnavailableError]
) -> None:
    Failing.failures.append(ServiceError("down for today"))
    reader = RemoteReader(of("Failing", attempts=1, on_unavailable=choice))
    with pytest.raises(
        RemoteTableUnavailableError, match='"prices" is unavailable: ServiceError: down for today'
    ) as caught:
        reader.find(pa.array([b"a"]), lambda *_: None)
    assert type(caught.value) is kind


def test_without_a_table_that_is_away_nothing_is_found_and_that_is_counted_and_not_remembered() -> None:
    Failing.failures.append(ServiceError())
    reader = RemoteReader(of("Failing", attempts=1, on_unavailable="asMissing", cache_size=10))
    counted: Counter[str] = Counter()
    for keys in ([b"a", b"b"], [b"b", b"c"]):
        found = reader.find(pa.array(keys), lambda name, n: counted.update({name: n}))
        assert found.places.to_pylist() == [None, None]
    assert counted == {"remoteCached": 0, "remoteUnanswered": 3}
    assert len(Failing.asked) == 1
    reader.begin()
    assert reader.find(pa.array([b"a"]), lambda *_: None).places.to_pylist() == [0]
