"""Filters that become one with the SQL that reads them: a step less for every row of the layer.

A filter that a Python worker can judge is left to it where it makes the rows: what it drops is never handed
to Spark.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from streamapp_runtime.expressions.template import Template
from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.program.hops import needs_spark


def fuse_filters(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces, which come after their sources, without filters that only one SQL piece reads."""
    readers = Counter(source for piece in pieces for source in piece.sources)
    piece_of: dict[str, Piece] = {}
    for piece in pieces:
        source = piece_of.get(piece.sources[0]) if len(piece.sources) == 1 else None
        if source is None or readers[source.name] != 1 or not _filters(source) or _stays(source, piece_of):
            piece_of[piece.name] = piece
        elif isinstance(piece.work, SqlPart) and isinstance(source.work, SqlPart):
            where = _both(source.work.where, piece.work.where)
            del piece_of[source.name]
            work = replace(piece.work, where=where, judgeable=None)
            filters = (*source.filters, source.name)
            piece_of[piece.name] = replace(piece, sources=source.sources, work=work, filters=filters)
        else:
            piece_of[piece.name] = piece
    return tuple(piece_of.values())


def _filters(piece: Piece) -> bool:
    """Whether it reads one source, keeps rows or drops them, and changes nothing."""
    work = piece.work
    if not isinstance(work, SqlPart) or len(piece.sources) != 1:
        return False
    changes = work.key or work.delete or work.generator
    return not changes and [output.column for output in work.outputs] == list(range(len(work.outputs)))


def _stays(piece: Piece, piece_of: Mapping[str, Piece]) -> bool:
    """Whether a Python worker both makes and can judge the rows of a filter."""
    return not needs_spark(piece) and not any(_in_sql(piece_of[name], piece_of) for name in piece.sources)


def _in_sql(piece: Piece, piece_of: Mapping[str, Piece]) -> bool:
    """Whether rows come from Spark; what computes nothing is where its sources are."""
    if not isinstance(piece.work, SqlPart):
        return False
    return needs_spark(piece) or any(_in_sql(piece_of[name], piece_of) for name in piece.sources)


def _both(first: Template | None, second: Template | None) -> Template | None:
    """Both conditions, the first one asked first: the second may rely on it."""
    if first is None or second is None:
        return first or second
    pieces = ("CASE WHEN (", *first.pieces, ") THEN (", *second.pieces, ") ELSE false END")
    return Template(pieces)
