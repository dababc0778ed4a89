"""The texts of Nexmark events: pools of made-up ones, from which events take by their numbers.

Texts that are made letter by letter would cost more than all else of an event. A pool is made once in a
process, by the same hash as the events, so it is the same in each.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bench.nexmark.event_numbers import Bits, Numbers, below, draws

POOL = 1 << 16
"""So many texts there are of a kind; of long ones some of each length are enough for few events."""
LONGEST, OF_EACH_LENGTH = 560, 16
SHORTEST = 3
BLANKS = 13
"""One of so many characters of a text is a blank."""
CHANNELS = 10_000
HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = (
    *("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland"),
    *("Bend", "Redmond", "Seattle", "Kent", "Cheyenne"),
)
FIRST_NAMES = (
    *("Peter", "Paul", "Luke", "John", "Saul", "Vicky"),
    *("Kate", "Julie", "Sarah", "Deiter", "Walter"),
)
LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")


@cache
def words(longest: int, blank: str = " ") -> pa.StringArray:
    """Texts of 3 characters and more, with blanks among the letters but not around them."""
    sizes = SHORTEST + below(draws(np.arange(POOL), longest), longest - SHORTEST)
    bits = draws(np.arange(int(sizes.sum())), longest + 1)
    letters = _letters(bits)
    letters[below(bits << np.uint64(16), BLANKS) == 0] = ord(blank)
    return pc.utf8_trim(_cut(letters, sizes), " ")


@cache
def bid_extras(size: int) -> pa.StringArray:
    """Texts that are as long as what a bid lacks to its size, give or take a fifth."""
    return _cut_of(around(draws(np.arange(POOL), 3), size), 4)


@cache
def texts_by_length() -> pa.StringArray:
    """Texts of every length up to the longest, some of each."""
    return _cut_of(np.repeat(np.arange(LONGEST), OF_EACH_LENGTH), 5)


def of_length(lengths: Numbers, bits: Bits) -> pa.StringArray:
    """A text of each length."""
    return texts_by_length().take(pa.array(lengths * OF_EACH_LENGTH + below(bits, OF_EACH_LENGTH)))


def around(bits: Bits, sizes: Numbers | int) -> Numbers:
    """Lengths that are random around a size: a fifth less, up to a fifth more."""
    size = np.maximum(np.asarray(sizes, np.int64), 0)
    spread = np.rint(size * 0.2).astype(np.int64)
    return size - spread + below(bits, 2 * spread)


class Channels(NamedTuple):
    """Channels and the URL of each: first those that are hot."""

    names: pa.StringArray
    urls: pa.StringArray


@cache
def channels() -> Channels:
    """All channels. Of ten that are not hot nine have their id in the URL."""
    numbers = np.arange(CHANNELS)
    places = np.arange(len(HOT_CHANNELS) + CHANNELS)
    steps = [words(5, "_").take(pa.array(below(draws(places, purpose), POOL))) for purpose in (6, 7, 8)]
    pages = pc.binary_join_element_wise("https://www.nexmark.com", *steps, "item.htm?query=1", "/")
    ids = [_reversed(number) for number in range(CHANNELS)]
    marked = below(draws(numbers, 9), 10) > 0
    endings = [f"&channel_id={id_}" if is_marked else "" for id_, is_marked in zip(ids, marked, strict=True)]
    urls = pc.binary_join_element_wise(pages, pa.array([*[""] * len(HOT_CHANNELS), *endings]), "")
    return Channels(pa.array([*HOT_CHANNELS, *(f"channel-{number}" for number in range(CHANNELS))]), urls)


@cache
def four_digits() -> pa.StringArray:
    """0000 to 9999."""
    return pa.array([f"{number:04}" for number in range(10_000)])


def _reversed(number: int) -> int:
    """The number with its 32 bits in the other order, without a sign."""
    bits = int(f"{number:032b}"[::-1], 2)
    return bits if bits < 1 << 31 else (1 << 32) - bits


def _letters(bits: Bits) -> NDArray[np.uint8]:
    return (below(bits, 26) + ord("a")).astype(np.uint8)


def _cut_of(lengths: Numbers, purpose: int) -> pa.StringArray:
    return _cut(_letters(draws(np.arange(int(lengths.sum())), purpose)), lengths)


def _cut(letters: NDArray[np.uint8], lengths: Numbers) -> pa.StringArray:
    ends = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    return pa.StringArray.from_buffers(len(lengths), pa.py_buffer(ends), pa.py_buffer(letters))
