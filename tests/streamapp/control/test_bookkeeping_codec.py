import json
import zlib
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.bookkeeping import Bookkeeping
from streamapp.control.bookkeeping_codec import decode_bookkeeping, encode_bookkeeping
from streamapp.control.control_message import EARLIEST, ENDED
from streamapp.control.control_sender import LastSent
from streamapp.control.upstream import UpstreamProgress
from streamapp.durable_forms import BOOKKEEPING
from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

TIMES = st.integers(EARLIEST, ENDED)
CLOCK = st.integers(-(2**40), 2**45)
TASKS = ["Partition 0", "Partition 1", "Partition 2", "Partition 10", "north", "", "a\u2028b"]


@st.composite
def upstreams(draw: st.DrawFn) -> UpstreamProgress:
    reached = draw(st.dictionaries(st.sampled_from(TASKS), TIMES))
    return UpstreamProgress(
        since=draw(CLOCK),
        watermark=draw(st.none() | TIMES),
        spoken=draw(st.none() | CLOCK),
        run=draw(st.none() | st.text(max_size=4)),
        left=draw(st.none() | st.text(max_size=4)),
        model=draw(st.integers(0, 2**40)),
        tasks=draw(st.integers(0, 9)),
        reached=reached,
        heard={task: draw(CLOCK) for task in reached},
    )


STREAMS = st.text(max_size=4)
BOOKS = st.builds(
    Bookkeeping,
    at=CLOCK,
    partitions=st.dictionaries(st.builds(Partition, STREAMS, st.integers(0, 9)), upstreams(), max_size=4),
    emitted=st.dictionaries(STREAMS, TIMES, max_size=3),
    sent=st.dictionaries(STREAMS, st.builds(LastSent, st.integers(0, 2**40), TIMES, CLOCK), max_size=3),
    whole=st.booleans(),
)


def sealed(document: object) -> str:
    return b64encode(zlib.compress(json.dumps(document).encode())).decode()


def many(partitions: int, tasks: int) -> Bookkeeping:
    """Tasks that are seconds apart, and that say the same in every partition."""
    said = {f"Partition {number}": 1_700_000_000_000 + number * 7_919 % 10_000 for number in range(tasks)}
    heard = dict.fromkeys(said, 1_700_000_009_000)
    known = UpstreamProgress(0, 1_700_000_000_000, 9, "run", None, 3, tasks, said, heard)
    return Bookkeeping(
        1_700_000_010_000, {Partition("int", index): known.copy() for index in range(partitions)}
    )


@given(BOOKS)
def test_books_come_back_as_they_were(books: Bookkeeping) -> None:
    assert decode_bookkeeping(encode_bookkeeping(books)) == books


def test_a_thousand_upstream_tasks_take_a_few_kilobytes_and_more_partitions_little_more() -> None:
    assert len(encode_bookkeeping(many(1, 1_000))) < 4_000
    assert len(encode_bookkeeping(many(8, 1_000))) < 8_000


def test_a_later_format_is_refused_as_such() -> None:
    refusal = decode_bookkeeping(sealed({"format": BOOKKEEPING.version + 1, "books": {"anything": 1}}))
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.NEWER_FORMAT


BOOKS_WITH = {"at": 0, "whole": True, "tasks": [["t", 0, 3, ""]], "runs": ["r"], "emitted": {}, "sent": {}}
ONE = {
    "stream": "int", "index": 0, "watermark": None, "since": 0, "spoken": None, "run": 0, "left": None,
    "model": 1, "tasks": 3, "who": [[0, 2, 1]], "base": 5, "reached": [0, None], "ago": [0, 0],
}  # fmt: skip


def test_the_written_form_is_what_it_is() -> None:
    found = decode_bookkeeping(
        sealed({"format": BOOKKEEPING.version, "books": BOOKS_WITH | {"partitions": [ONE]}})
    )
    upstream = UpstreamProgress(
        0, run="r", model=1, tasks=3, reached={"t0": 5, "t1": ENDED}, heard={"t0": 0, "t1": 0}
    )
    assert found == Bookkeeping(0, {Partition("int", 0): upstream})


@pytest.mark.parametrize(
    "wrong",
    [
        {"who": [[0, 3, 1]]}, {"who": [[2, 2, 1]]}, {"run": 1}, {"left": 9}, {"reached": [2**63, 0]},
        {"reached": [-1, 0]}, {"ago": [0]}, {"watermark": 2**64}, {"mood": "good"}, {"index": -1},
    ],
)  # fmt: skip
def test_books_that_do_not_agree_with_themselves_are_refused(wrong: dict[str, object]) -> None:
    refusal = decode_bookkeeping(
        sealed({"format": BOOKKEEPING.version, "books": BOOKS_WITH | {"partitions": [ONE | wrong]}})
    )
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.DAMAGED_DATA


@pytest.mark.parametrize(
    "text", ["", "=", "no books", "\u00e9", sealed(7), sealed([]), sealed({"format": 1})]
)
def test_what_nobody_writes_is_refused(text: str) -> None:
    assert isinstance(decode_bookkeeping(text), Refusal)


def test_names_that_would_fill_the_memory_are_refused() -> None:
    many_names = [["t", 0, 10_000_000, ""], ["u", 0, 10_000_000, ""]]
    text = sealed(
        {"format": BOOKKEEPING.version, "books": BOOKS_WITH | {"tasks": many_names, "partitions": []}}
    )
    assert isinstance(decode_bookkeeping(text), Refusal)


@given(st.integers(0), st.integers(0, 127))
def test_a_changed_character_is_seen_or_means_the_same(place: int, other: int) -> None:
    text = encode_bookkeeping(many(2, 5))
    place %= len(text)
    changed = text[:place] + chr(other) + text[place + 1 :]
    # The last character holds bits that belong to no byte.
    assert isinstance(decode_bookkeeping(changed), Refusal) or decode_bookkeeping(
        changed
    ) == decode_bookkeeping(text)
