"""From a layer's pieces to steps of Spark SQL over registers, each row touched only by its own piece."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamapp_runtime.expressions.sql_types import quoted
from streamapp_runtime.expressions.template import RECORD_KEY, ROW_ALIAS, Template
from streamapp_runtime.operators.compilation.piece import Piece, SqlPart
from streamapp_runtime.program.program import RowEdge, SqlStep


@dataclass(frozen=True, slots=True)
class PlacedPiece:
    """A piece with the edges that it reads and writes."""

    piece: Piece
    sources: tuple[RowEdge, ...]
    outputs: tuple[RowEdge, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """One piece's share of a step: its tags in, and the registers of what it reads and writes."""

    placed: PlacedPiece
    work: SqlPart
    names: tuple[str, ...]  # of each position: registers, then what its generator makes

    @property
    def guard(self) -> str:
        tags = [edge.tag for edge in self.placed.sources]
        return (
            f"{ROW_ALIAS}.tag = {tags[0]}"
            if len(tags) == 1
            else f"{ROW_ALIAS}.tag IN ({', '.join(map(str, tags))})"
        )

    def text(self, template: Template) -> str:
        return template.over(self.names, f"{ROW_ALIAS}.now")


def sql_steps(layer: Sequence[PlacedPiece]) -> tuple[SqlStep, ...]:
    """One step for all pieces of equal depth. Pieces come after their sources."""
    depth: dict[str, int] = {}
    for placed in layer:
        before = [depth[edge.producer] for edge in placed.sources if edge.producer in depth]
        depth[placed.piece.name] = max(before, default=-1) + 1
    deepest = max(depth.values(), default=-1)
    return tuple(
        _step([placed for placed in layer if depth[placed.piece.name] == number])
        for number in range(deepest + 1)
    )


def _step(layer: Sequence[PlacedPiece]) -> SqlStep:
    parts = [_part(placed, number) for number, placed in enumerate(layer)]
    return SqlStep(
        pieces=tuple(name for placed in layer for name in (*placed.piece.filters, placed.piece.name)),
        where=_where(parts),
        explode=tuple(_explosion(part, number) for number, part in enumerate(parts) if part.work.generator),
        project=tuple(_project(parts)),
        fan_out=tuple(
            (tags[0], tags)
            for part in parts
            if len(tags := tuple(edge.tag for edge in part.placed.outputs)) > 1
        ),
    )


def _part(placed: PlacedPiece, number: int) -> _Part:
    work = placed.piece.work
    if not isinstance(work, SqlPart):
        raise TypeError(f"{placed.piece.name} is not SQL")
    names = [f"{ROW_ALIAS}.{register}" for register in placed.sources[0].registers]
    if (generator := work.generator) is not None:
        names += [f"{ROW_ALIAS}.`place {number}`"] * generator.places
        element = f"{ROW_ALIAS}.`element {number}`"
        names += [f"{element}.{quoted(f)}" for f in generator.fields] or [element]
    return _Part(placed, work, tuple(names))


def _where(parts: Sequence[_Part]) -> str | None:
    """Tombstones pass. A piece of which nothing is read gives no rows."""
    cases = []
    for part in parts:
        if not part.placed.outputs:
            cases.append(f"WHEN {part.guard} THEN false")
        elif part.work.where is not None:
            cases.append(
                f"WHEN {part.guard} THEN {ROW_ALIAS}.z OR coalesce({part.text(part.work.where)}, false)"
            )
    return f"CASE {' '.join(cases)} ELSE true END" if cases else None


def _explosion(part: _Part, number: int) -> tuple[str, str, str]:
    """Rows of other pieces, and tombstones, have an array of one null, and so stay one row."""
    generator = part.work.generator
    if generator is None:
        raise TypeError("no generator")
    array = f"WHEN {part.guard} AND NOT {ROW_ALIAS}.z THEN {part.text(generator.array)}"
    function = "posexplode_outer" if generator.outer else "posexplode"
    call = f"{function}(CASE {array} ELSE CAST(array(null) AS {generator.type}) END)"
    return (call, f"place {number}", f"element {number}")


def _project(parts: Sequence[_Part]) -> Iterator[tuple[str, str]]:
    """For each register that some piece changes, its new value by tag."""
    cases: dict[str, list[str]] = {}
    for part in parts:
        for register, text in _changes(part):
            cases.setdefault(register, []).append(f"WHEN {part.guard} THEN {text}")
    for register, branches in cases.items():
        yield register, f"CASE {' '.join(branches)} ELSE {ROW_ALIAS}.{register} END"


def _changes(part: _Part) -> Iterator[tuple[str, str]]:
    work, outputs = part.work, part.placed.outputs
    if not outputs:
        return
    yield "tag", str(outputs[0].tag)
    written = outputs[0].registers
    for register, template in zip(written, work.outputs, strict=True):
        text = part.text(template)
        if text != f"{ROW_ALIAS}.{register}":
            is_column = template.column is not None
            yield register, text if is_column else f"CASE WHEN NOT {ROW_ALIAS}.z THEN {text} END"
    for register in part.placed.sources[0].registers:
        if register not in written:
            yield register, "NULL"  # else it would travel on with rows that have no use for it
    if work.key is not None:
        key = f"CAST(CAST({part.text(work.key)} AS STRING) AS BINARY)"
        of_tombstone = RECORD_KEY if work.tombstones_keep_key else "NULL"
        if work.key_of_tombstone is not None:
            of_tombstone = f"CAST(CAST({part.text(work.key_of_tombstone)} AS STRING) AS BINARY)"
        yield "k", f"CASE WHEN {ROW_ALIAS}.z THEN {of_tombstone} ELSE {key} END"
    if work.delete is not None:
        yield "z", f"{ROW_ALIAS}.z OR coalesce({part.text(work.delete)}, false)"
