"""The places at which the records of batches begin.

A record says how long it is and nothing else says where the next one begins: a chain that has to be walked.
Here many places of it are walked at once: every batch is cut into pieces, a place in each piece is guessed
where a record seems to begin, and all pieces are walked in step, each by one element of an array. That each
walk ends where the next piece begins proves the guesses; where one does not, the batches are walked from
their first records on.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Numbers, Octets

_PIECE = 128  # records to a piece: fewer need more guesses, more leave fewer pieces to walk at once
_FEW = 512  # records that are not worth a guess
_LARGE = 2048  # bytes of a record above which one after the other is as fast
_GAP = 1024  # records between two neighbours that compaction may have taken
_BLOCK = 32  # steps between looks at who has come to the end


@dataclass(frozen=True, slots=True)
class BatchExtents:
    """The bounds of each batch's records in the bytes, and the number of those records."""

    begin: Numbers
    end: Numbers
    count: Numbers


def _steps() -> npt.NDArray[np.int32]:
    """The distance to the next record, by the first two bytes; 0 where those do not say."""
    pairs = np.arange(1 << 16)
    low, high = pairs & 0xFF, pairs >> 8
    one = 1 + (low >> 1)
    two = 2 + (((low & 0x7F) | high << 7) >> 1)
    lengths = np.where(low < 0x80, one, np.where(high < 0x80, two, 0))
    # Bit 0 is the sign: no record has a negative length.
    return np.where(low & 1, 0, lengths).astype(np.int32)


_STEPS = _steps()


def record_starts(octets: Octets, extents: BatchExtents) -> Numbers:
    """The place of every record, in order; MalformedError where the batches do not hold what they say."""
    total = int(extents.count.sum())
    size = int((extents.end - extents.begin).sum())
    if total < _FEW or size > total * _LARGE:
        return _walked(octets, extents)
    starts = _in_step(octets, extents)
    return _walked(octets, extents) if starts is None else starts


def _walked(octets: Octets, extents: BatchExtents) -> Numbers:
    """One record after the other."""
    raw = octets.data
    starts: list[int] = []
    for begin, end, count in zip(
        extents.begin.tolist(), extents.end.tolist(), extents.count.tolist(), strict=True
    ):
        place, before = begin, len(starts)
        while place < end:
            starts.append(place)
            length = raw[place]
            place += 1
            shift = 7
            if length >= 0x80:
                length &= 0x7F
                while True:
                    next_ = raw[place]
                    place += 1
                    length |= (next_ & 0x7F) << shift
                    shift += 7
                    if next_ < 0x80 or shift > 35:
                        break
            if length & 1:
                raise MalformedError("a record has a negative length")
            place += length >> 1
        if place != end or len(starts) - before != count:
            raise MalformedError("a batch does not hold the records that it says it holds")
    return np.array(starts, np.int64)


def _in_step(octets: Octets, extents: BatchExtents) -> Numbers | None:
    """All pieces at once; None where a guess was wrong, or too few pieces are left to be worth it."""
    begins, ends = _pieces(octets, extents)
    place = begins.astype(np.int64)
    rows: list[Numbers] = []
    while True:
        for _ in range(_BLOCK):
            rows.append(place)
            pair = octets.take(place, mode="clip").astype(np.int64)
            pair |= octets.take(place + 1, mode="clip").astype(np.int64) << 8
            place = place + _STEPS[pair]
        going = np.count_nonzero(place < ends)
        if not going:
            break
        if going < 8 and len(rows) > 8 * _PIECE:
            return None
        if (place == rows[-1]).any():  # a length that takes more than two bytes
            return None
    rows.append(place)
    walked = np.stack(rows, axis=1)
    within = walked < ends[:, None]
    landed = walked[np.arange(len(ends)), within.sum(axis=1)]
    starts = walked[within]
    borders = np.searchsorted(starts, np.append(extents.begin, extents.end[-1]))
    if (landed != ends).any() or (np.diff(borders) != extents.count).any():
        return None
    return starts


def _pieces(octets: Octets, extents: BatchExtents) -> tuple[Numbers, Numbers]:
    """The begin and end of each piece: at every batch, and at guessed places within the longer ones."""
    parts = np.maximum(extents.count // _PIECE, 1)
    batch = np.repeat(np.arange(len(parts)), parts)
    number = np.arange(len(batch)) - np.repeat(np.cumsum(parts) - parts, parts)
    size = extents.end - extents.begin
    place = extents.begin[batch] + number * size[batch] // parts[batch]
    inner = np.flatnonzero(number)
    if len(inner):
        width = 3 * int(size.sum() // extents.count.sum()) + 16
        limits = extents.end[batch[inner]]
        place[inner] = _guessed(octets, place[inner], limits, width)
        # Where nothing was found the piece before goes on.
        place = place[place >= 0]
    last = np.append(place[1:], extents.end[-1])
    # A batch's last piece ends where its records do, not where the next batch's begin.
    closing = np.searchsorted(place, extents.begin[1:]) - 1
    last[closing] = extents.end[:-1]
    return place, last


def _guessed(octets: Octets, place: Numbers, limit: Numbers, width: int) -> Numbers:
    """A place at or after each where a record seems to begin, -1 where none is near."""
    # A record's attributes, the byte behind its length, are zero: few bytes are.
    window = octets.take(place[:, None] + np.arange(1, width), mode="clip")
    row, column = np.nonzero(window == 0)
    zero = place[row] + column + 1
    candidates = np.full(len(place), -1, np.int64)
    for length_size in (2, 1):
        candidate = zero - length_size
        sound = (candidate >= place[row]) & _is_plausible_start(octets, candidate, length_size, limit[row])
        # Written back to front, so that the first of each row stays.
        rows, places = row[sound][::-1], candidate[sound][::-1]
        better = candidates[rows] < 0
        candidates[rows[better]] = places[better]
    return candidates


def _is_plausible_start(
    octets: Octets, place: Numbers, length_size: int, limit: Numbers
) -> npt.NDArray[np.bool_]:
    """True where a record at the place would be followed by one with a number soon after."""
    last = len(octets) - varints.PADDING
    first = octets.take(place, mode="clip")
    second = octets.take(place + 1, mode="clip")
    sound: npt.NDArray[np.bool_] = (first & 1) == 0
    sound &= (first < 0x80) if length_size == 1 else (first >= 0x80) & (second < 0x80)
    pair = first.astype(np.int64) | second.astype(np.int64) << 8
    following = place + _STEPS[pair]
    sound &= (following < limit) & (following <= last)
    chosen = np.flatnonzero(sound)
    number, whole = _number(octets, place[chosen])
    next_number, next_whole = _number(octets, following[chosen])
    gap = next_number - number
    sound[chosen] = whole & next_whole & (number >= 0) & (gap > 0) & (gap <= _GAP)
    return sound


def _number(octets: Octets, place: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """A record's number in its batch, and whether what stands before it can be a record's beginning."""
    attributes = varints.try_read_varints(octets, place)[1]
    time = attributes + 1
    number = varints.try_read_varints(octets, varints.try_read_varints(octets, time)[1])[0]
    whole: npt.NDArray[np.bool_] = octets[attributes] == 0
    return number, whole
