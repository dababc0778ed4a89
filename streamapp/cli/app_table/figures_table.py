"""The table of apps: its columns, its order, and its lines in so many characters."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from streamapp.cli.app_table.app_figures import AppFigures, FiguresReading
from streamapp.cli.app_table.figure_text import UNKNOWN, count_text, duration_text, rate_text
from streamapp.cli.output_option import aligned_columns
from streamapp.plan.render.wording import clip_end, legible

_GAP: Final = 2  # of `aligned_columns`
_SHORTEST_NAME: Final = 16
"""A name is shortened so far before a column is left out."""
_LEAST_NAME: Final = 8
"""And so far where no column is left that could be."""


@dataclass(frozen=True, slots=True)
class FiguresColumn:
    """One column of the table."""

    head: str
    text: Callable[[AppFigures], str]
    sort_by: Callable[[AppFigures], Any]  # None sorts last
    descends: bool = True  # the largest first
    is_number: bool = True
    dropped: int = 0  # which one is left out first where a terminal is too narrow; 0: never


def _generation(app: AppFigures) -> str:
    if app.generation is None:
        return UNKNOWN
    if app.accepted_generation in (None, app.generation):
        return str(app.generation)
    return f"{app.accepted_generation}/{app.generation}"


def _lag(app: AppFigures) -> str:
    return "<=" * app.lag_is_bound + count_text(app.lag)


def _name(app: AppFigures) -> str:
    return app.name


COLUMNS: Final = {
    "namespace": FiguresColumn(
        "NAMESPACE", lambda app: app.namespace or UNKNOWN, lambda app: app.namespace, False, False
    ),
    "name": FiguresColumn("NAME", _name, _name, False, False),
    "phase": FiguresColumn("PHASE", lambda app: app.phase, lambda app: app.phase, False, False),
    "ready": FiguresColumn("READY", lambda app: app.ready or UNKNOWN, lambda app: app.ready, False, False, 5),
    "generation": FiguresColumn("GEN", _generation, lambda app: app.generation, dropped=1),
    "processors": FiguresColumn(
        "PROC", lambda app: count_text(app.processors), lambda app: app.processors, dropped=2
    ),
    "tasks": FiguresColumn("TASKS", lambda app: count_text(app.tasks), lambda app: app.tasks, dropped=3),
    "in": FiguresColumn("IN/S", lambda app: rate_text(app.rows_in), lambda app: app.rows_in),
    "out": FiguresColumn("OUT/S", lambda app: rate_text(app.rows_out), lambda app: app.rows_out, dropped=7),
    "lag": FiguresColumn("LAG", _lag, lambda app: app.lag),
    "behind": FiguresColumn(
        "BEHIND", lambda app: duration_text(app.behind), lambda app: app.behind, dropped=8
    ),
    "restarts": FiguresColumn(
        "RESTARTS", lambda app: count_text(app.restarts), lambda app: app.restarts, dropped=4
    ),
    "age": FiguresColumn("AGE", lambda app: duration_text(app.age), lambda app: app.age, dropped=6),
}
"""By the name that `--sort` has for it."""
SORTS: Final = tuple(COLUMNS)


def sorted_apps(apps: Sequence[AppFigures], sort: str) -> list[AppFigures]:
    """The apps by a column, and by name where that is equal; what is not known comes last."""
    column = COLUMNS[sort]
    by_name = sorted(apps, key=lambda app: (app.namespace or "", app.name))
    known = [app for app in by_name if column.sort_by(app) is not None]
    unknown = [app for app in by_name if column.sort_by(app) is None]
    return sorted(known, key=column.sort_by, reverse=column.descends) + unknown


def table_lines(apps: Sequence[AppFigures], width: int | None, *, namespaces: bool) -> list[str]:
    """The head and a line for each app; with a width no line is longer, and columns are left out for that."""
    shown = [name for name in COLUMNS if namespaces or name != "namespace"]
    cells = {name: [COLUMNS[name].head, *(COLUMNS[name].text(app) for app in apps)] for name in shown}
    if width is not None:
        _fit(cells, width)
    numbers = [place for place, name in enumerate(cells) if COLUMNS[name].is_number]
    lines = aligned_columns(list(zip(*cells.values(), strict=True)), numbers)
    return [fitted(line, width) for line in lines]


def fitted(line: str, width: int | None) -> str:
    """A line without control characters, which others may have written, and no wider than that."""
    return legible(line) if width is None else clip_end(legible(line), width)


def reading_document(reading: FiguresReading, sort: str) -> dict[str, Any]:
    """A reading as `-o json` has it: all figures in full, in the order of the table."""
    return {
        "apps": [_camel_cased(asdict(app)) for app in sorted_apps(reading.apps, sort)],
        "notRead": list(reading.notices),
    }


def _fit(cells: dict[str, list[str]], width: int) -> None:
    """Shorten names and leave columns out until a line has this width, as far as that goes."""
    for name in sorted(
        (name for name in cells if COLUMNS[name].dropped), key=lambda one: COLUMNS[one].dropped
    ):
        if _line_width(cells, shortest_names=True) <= width:
            break
        del cells[name]
    excess = _line_width(cells) - width
    if excess > 0:
        room = max(_LEAST_NAME, _column_width(cells["name"]) - excess)
        cells["name"] = [clip_end(text, room) for text in cells["name"]]


def _line_width(cells: dict[str, list[str]], *, shortest_names: bool = False) -> int:
    widths = {name: _column_width(texts) for name, texts in cells.items()}
    if shortest_names:
        widths["name"] = min(widths["name"], _SHORTEST_NAME)
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _column_width(texts: Sequence[str]) -> int:
    return max(map(len, texts))


def _camel_cased(value: Any) -> Any:
    """A value with the names that fields have in JSON."""
    match value:
        case dict():
            return {_camel_case(name): _camel_cased(each) for name, each in value.items()}
        case list() | tuple():
            return [_camel_cased(each) for each in value]
    return value


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)
