"""How a remote table is asked: bounded in time, again after a failure, and no faster than it may be."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.operators.user_code.user_code_loader import UserCodeError
from streamapp_runtime.remote.remote_client import MOST_KEYS, RateLimit, RemoteClient, RemoteSilentError
from streamapp_runtime.rows.row_decoder import decode
from tests.harness.engine.remote_table_settings import of
from tests.harness.user_code.remote_table_code import Failing, Hanging, Prices, ServiceError

KEY = pa.array([b"a"])
PATIENT_SECONDS = 30.0


class Clock:
    """Time that goes on only while somebody pauses."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    Failing.failures.clear()
    Failing.asked.clear()
    Prices.log.clear()


def asking(clock: Clock, name: str, **more: object) -> RemoteClient:
    return RemoteClient(of(name, **more), clock, clock.pause)


def test_rows_are_found_and_the_object_is_opened_once_and_closed(clock: Clock) -> None:
    ask = asking(clock, "Prices", options='{"a": 1}')
    for _ in range(2):
        values = ask(pa.array([b"b", b"z", b"a"]))
        assert values.is_valid().to_pylist() == [True, False, True]
        assert decode(values.drop_null(), of("Prices").schema)["name"].to_pylist() == ["bean", "apple"]
    assert Prices.log == ["open prices {'a': 1}", *["get [b'a', b'b', b'z']"] * 2]


def test_a_call_that_fails_is_made_again_after_twice_the_time_with_another_object(clock: Clock) -> None:
    Failing.failures += [ServiceError("busy"), ConnectionResetError()]
    assert asking(clock, "Failing", attempts=3, backoff=0.1)(KEY).null_count == 0
    assert clock.pauses == [0.1, 0.2]
    assert len(Failing.asked) == 3


def test_who_fails_as_often_as_it_is_asked_gives_no_answer(clock: Clock) -> None:
    Failing.failures += [ServiceError("busy")] * 3
    with pytest.raises(RemoteSilentError, match="ServiceError: busy"):
        asking(clock, "Failing", attempts=3)(KEY)
    assert Failing.failures == []


def test_who_is_away_is_asked_once_until_it_answers_and_then_with_patience_again(clock: Clock) -> None:
    ask = asking(clock, "Failing", attempts=2)
    Failing.failures += [ServiceError()] * 4
    for asked in (2, 3, 4):
        with pytest.raises(RemoteSilentError):
            ask(KEY)
        assert len(Failing.asked) == asked
    ask(KEY)
    Failing.failures.append(ServiceError())
    ask(KEY)
    assert len(Failing.asked) == 7


def test_an_error_of_the_class_itself_is_told_at_once_with_its_traceback(clock: Clock) -> None:
    Failing.failures.append(KeyError("price"))
    with pytest.raises(UserCodeError, match=r"Failing failed: KeyError\('price'\)") as caught:
        asking(clock, "Failing", attempts=3)(KEY)
    assert "in get_many" in caught.value.trace
    assert len(Failing.asked) == 1


def test_a_call_that_hangs_is_left_behind_and_its_object_closed_when_it_comes_back(clock: Clock) -> None:
    Hanging.free.clear()
    Hanging.closed.clear()
    with pytest.raises(RemoteSilentError, match=r"no answer within 0\.05 s"):
        asking(clock, "Hanging", timeout=0.05, attempts=2)(KEY)
    assert not Hanging.closed.is_set()
    Hanging.free.set()
    assert Hanging.closed.wait(PATIENT_SECONDS)


def test_many_keys_are_asked_for_in_several_calls(clock: Clock) -> None:
    keys = pa.array([b"%d" % n for n in range(2 * MOST_KEYS + 1)])
    assert len(asking(clock, "Failing")(keys)) == len(keys)
    assert len(Failing.asked) == 3


def test_no_more_keys_are_asked_for_than_may_be(clock: Clock) -> None:
    ask = asking(clock, "Failing", rate_limit=10)
    ask(pa.array([b"%d" % n for n in range(35)]))
    assert clock.now == pytest.approx(2.5)
    ask(pa.array([b"%d" % n for n in range(5)]))
    assert clock.now == pytest.approx(3.0)


@given(st.integers(1, 50), st.lists(st.tuples(st.integers(0, 50), st.integers(0, 3)), max_size=20))
def test_in_no_time_is_more_asked_for_than_it_allows_and_a_second_more(
    limit: int, asked: list[tuple[int, int]]
) -> None:
    clock = Clock()
    rate = RateLimit(limit, clock)
    times: list[tuple[float, int]] = []
    for count, idle in asked:
        clock.now += idle
        clock.now += rate.wait_for(min(count, limit))
        times.append((clock.now, min(count, limit)))
    for first in range(len(times)):
        for last in range(first, len(times)):
            inside = sum(count for _, count in times[first : last + 1])
            assert inside <= limit * (times[last][0] - times[first][0] + 1) + 1e-6
