"""Rows of text as aligned columns."""

from collections.abc import Iterator, Sequence


def aligned_columns(rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> Iterator[str]:
    """A line for each row; the columns of numbers stand to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
