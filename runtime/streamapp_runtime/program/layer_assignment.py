"""Which layer each piece runs in: as early as its sources and the tables it touches allow.

Even numbers are Python workers, odd ones Spark SQL. What computes nothing runs wherever its rows are.
"""

from collections.abc import Mapping, Sequence

from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.operators.stateless.stream_operations import Write
from streamapp_runtime.program.hops import needs_spark, tables_of


def layer_by_piece(pieces: Sequence[Piece]) -> dict[str, int]:
    """The layer of each piece. Pieces come after their sources; there is no circle with SQL through a table.

    The smallest numbers that satisfy all: each pass only raises them, and stops when none is raised.
    """
    level = {piece.name: 0 for piece in pieces}
    of_table: dict[str, int] = {}
    moved = True
    while moved:
        moved = False
        for piece in pieces:
            least = max(
                _earliest(piece, level),
                level[piece.name],
                *(of_table.get(table, 0) for table in tables_of(piece)),
            )
            if level[piece.name] != least:
                level[piece.name], moved = least, True
            for table in tables_of(piece):
                if of_table.get(table, 0) < least:
                    of_table[table], moved = least, True
    last = max((number + number % 2 for number in level.values()), default=0)
    return {p.name: last if isinstance(p.work, Write) else level[p.name] for p in pieces}


def _earliest(piece: Piece, level: Mapping[str, int]) -> int:
    ready = max((level[source] for source in piece.sources), default=0)
    if not isinstance(piece.work, SqlPart):
        return ready + ready % 2
    return ready + (ready + 1) % 2 if needs_spark(piece) else ready
