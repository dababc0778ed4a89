"""Streams whose headers of traces are passed on: their rows come to an output that has such headers.

Others are read without headers. Late rows are such an output, and rows of any stream may be late.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from streamapp_runtime.operators.compilation.piece import Piece
from streamapp_runtime.operators.stateless.stream_operations import MADE_BY_APP, Read, Write


def with_traces(pieces: Sequence[Piece], *, late_rows: bool) -> tuple[Piece, ...]:
    """The pieces, of which those say so that read and write headers of traces."""
    sources = {piece.name: list(piece.sources) for piece in pieces}
    writers: defaultdict[str, list[str]] = defaultdict(list)
    for piece in pieces:
        if isinstance(piece.work, Write) and piece.work.role in MADE_BY_APP:
            writers[piece.work.stream].append(piece.name)
    for piece in pieces:
        if isinstance(piece.work, Read):
            sources[piece.name] = writers[piece.work.stream]
    reached = {piece.name for piece in pieces if isinstance(piece.work, Write) and piece.work.traces}
    if late_rows:
        reached |= {piece.name for piece in pieces if isinstance(piece.work, Read)}
    waiting = list(reached)
    while waiting:
        new = set(sources[waiting.pop()]) - reached
        reached |= new
        waiting += new
    return tuple(
        replace(piece, work=replace(piece.work, traces=True))
        if isinstance(piece.work, Read | Write) and piece.name in reached
        else piece
        for piece in pieces
    )
