"""Keys wait once, come in turn, and are never worked on twice at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamapp_operator.controller.workqueue.key_queue import BURST, SECONDS_EACH, KeyQueue
from streamapp_operator.controller.workqueue.retry_backoff import KEY_BACKOFF, RetryBackoff, backoff_seconds


def _with(do: Callable[[KeyQueue[str]], Awaitable[Any]]) -> Any:
    async def doing() -> Any:
        return await do(KeyQueue[str](asyncio.get_running_loop().time))

    return asyncio.run(doing())


def test_a_key_that_waits_already_is_not_there_twice() -> None:
    async def do(queue: KeyQueue[str]) -> Any:
        queue.add("a")
        queue.add("a")
        return await queue.get(), queue.depth

    assert _with(do) == ("a", 0)


def test_a_key_that_comes_while_it_is_worked_on_comes_again_and_not_before() -> None:
    async def do(queue: KeyQueue[str]) -> Any:
        queue.add("a")
        await queue.get()
        queue.add("a")
        during = queue.depth
        queue.done("a")
        return during, queue.depth

    assert _with(do) == (0, 1)


def test_a_key_that_keeps_coming_does_not_keep_the_others_from_their_turn() -> None:
    async def do(queue: KeyQueue[str]) -> Any:
        queue.add("busy")
        queue.add("other")
        first = await queue.get()
        queue.add("busy")
        queue.done("busy")
        return first, await queue.get()

    assert _with(do) == ("busy", "other")


def test_the_earliest_of_several_delays_counts() -> None:
    async def do(queue: KeyQueue[str]) -> Any:
        queue.add_after("a", 3600.0)
        queue.add_after("a", 0.0)
        queue.add_after("a", 3600.0)
        return await asyncio.wait_for(queue.get(), 30)

    assert _with(do) == "a"


def test_a_key_that_is_taken_is_no_longer_awaited_later() -> None:
    async def do(queue: KeyQueue[str]) -> Any:
        queue.add_after("a", 0.0)
        queue.add("a")
        await queue.get()
        queue.done("a")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return queue.depth

    assert _with(do) == 0


@given(st.lists(st.tuples(st.sampled_from(["add", "get", "done"]), st.sampled_from("abc")), max_size=40))
def test_whatever_happens_no_key_is_lost_doubled_or_worked_on_twice_at_a_time(
    moves: list[tuple[str, str]],
) -> None:
    """Beside a model: an ordered list of what waits, and what is worked on."""

    async def do(queue: KeyQueue[str]) -> None:
        waiting: list[str] = []
        working: set[str] = set()
        dirty: set[str] = set()
        for move, key in moves:
            if move == "add":
                queue.add(key)
                if key in working:
                    dirty.add(key)
                elif key not in waiting:
                    waiting.append(key)
            elif move == "get" and waiting:
                assert await queue.get() == waiting[0]
                working.add(waiting.pop(0))
            elif move == "done" and key in working:
                queue.done(key)
                working.discard(key)
                if key in dirty:
                    dirty.discard(key)
                    waiting.append(key)
            assert queue.depth == len(waiting)

    _with(do)


@given(st.integers(1, 1000), st.floats(0, 1))
def test_waits_grow_and_stay_below_a_limit(failures: int, chance: float) -> None:
    assert backoff_seconds(failures, chance) <= KEY_BACKOFF.longest * 1.25
    assert backoff_seconds(failures + 1, chance) >= backoff_seconds(failures, chance)


def test_after_a_success_the_wait_begins_anew() -> None:
    backoff = RetryBackoff[str](lambda: 0.5)
    waits = [backoff.failed("a") for _ in range(3)]
    backoff.succeeded("a")
    assert waits == [0.5, 1.0, 2.0]
    assert backoff.failed("a") == 0.5


def test_what_the_server_asks_for_is_the_least() -> None:
    assert RetryBackoff[str](lambda: 0.5).failed("a", at_least=7.0) == 7.0


def test_a_key_that_comes_without_end_has_its_turns_and_then_one_a_second() -> None:
    """Other keys take no notice, and the key is late by a second at most."""
    seconds = [0.0]

    async def turns(queue: KeyQueue[str]) -> int:
        passed = 0
        queue.add("busy")
        while queue.depth:
            key = await queue.get()
            queue.add(key)
            queue.done(key)
            passed += 1
        return passed

    async def do() -> tuple[int, int, str]:
        queue = KeyQueue[str](lambda: seconds[0])
        at_once = await turns(queue)
        queue.add("other")
        other = await queue.get()
        queue.close()
        seconds[0] += 3 * SECONDS_EACH
        later = await turns(queue)
        queue.close()
        return at_once, later, other

    assert asyncio.run(do()) == (BURST, 3, "other")
