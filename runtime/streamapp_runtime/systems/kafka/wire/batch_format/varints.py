"""Numbers of variable length, as record batches hold them: many at once.

Seven bits to a byte, the lowest first, the highest bit set on all but the last byte; the sign is bit 0.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError

Octets = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

_LONGEST = 10
_SHIFT = np.uint64(7)
PADDING = 64
"""So many bytes must follow any bytes that are looked at: a few numbers may be read beyond a record's end."""


def read_varints(octets: Octets, at: Numbers) -> tuple[Numbers, Numbers]:
    """The number at each place, and the place behind it."""
    values, after, endless = try_read_varints(octets, at)
    if endless:
        raise MalformedError("a number is longer than any may be")
    return values, after


def try_read_varints(octets: Octets, at: Numbers) -> tuple[Numbers, Numbers, bool]:
    """The same of places that may not hold numbers, and whether some number had no end."""
    first = octets[at]
    value = (first & 0x7F).astype(np.int64)
    after = at + 1
    # Which go on. Numbers of one kind are mostly of one length, so all of them is a case of its own.
    more = np.flatnonzero(first & 0x80)
    shift = 7
    while len(more) and shift < 7 * _LONGEST:
        if len(more) == len(at):
            next_ = octets[after]
            value |= (next_ & 0x7F).astype(np.int64) << shift
            after += 1
            more = np.flatnonzero(next_ & 0x80)
        else:
            places = after[more]
            next_ = octets[places]
            value[more] |= (next_ & 0x7F).astype(np.int64) << shift
            after[more] = places + 1
            more = more[next_ >= 0x80]
        shift += 7
    # The sign is in the lowest bit; the highest of 64 must not be taken for one.
    return (value.view(np.uint64) >> 1).view(np.int64) ^ -(value & 1), after, len(more) > 0


def varint_sizes(values: Numbers) -> Numbers:
    """The bytes that each number takes."""
    folded = _folded(values)
    largest = int(folded.max(initial=0))
    size = np.ones(len(values), np.int64)
    bound = 1 << 7
    while bound <= largest:
        size += folded >= bound
        bound <<= 7
    return size


def write_varints(octets: Octets, at: Numbers, values: Numbers) -> None:
    """Each number at its place, which has room for it."""
    place: npt.NDArray[np.signedinteger[Any]] = at
    remaining = _folded(values)
    while True:
        low = remaining.astype(np.uint8)
        further = np.flatnonzero(remaining >= 0x80)
        if not len(further):
            octets[place] = low
            return
        if len(further) == len(place):
            octets[place] = low | 0x80
            place, remaining = place + 1, remaining >> _SHIFT
        else:
            low[further] |= 0x80
            octets[place] = low
            place, remaining = place[further] + 1, remaining[further] >> _SHIFT


def _folded(values: Numbers) -> npt.NDArray[np.uint64]:
    """Without a sign: it is in the lowest bit."""
    return ((values << 1) ^ (values >> 63)).view(np.uint64)
