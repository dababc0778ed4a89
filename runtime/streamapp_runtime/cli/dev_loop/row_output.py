"""The output of an app, as lines: its new rows on standard output, all else on standard error."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import WrongUseError


@dataclass(slots=True)
class RowOutput:
    """Prints what is new since it last did."""

    app: InProcessApp
    shown: Sequence[str]
    tables: Sequence[str]
    limit: int
    _late: int = 0
    _bad: int = 0
    _table_rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def print_new_rows(self) -> None:
        """Rows of streams and tables, what was left out, and how much there is of what."""
        width = max((len(name) for name in (*self.shown, *self.tables)), default=0)
        for name in self.shown:
            self._print(name, width, [_text(row) for row in self._new_rows(name)])
        contents = {name: self._table(name) for name in self._all_tables()}
        for name in self.tables:
            self._print(name, width, self._table_changes(name, contents.get(name) or {}))
        self._print_left_out()
        self._print_counts({name: rows for name, rows in contents.items() if rows is not None})

    def _new_rows(self, name: str) -> Sequence[Any]:
        try:
            return self.app.new_rows(name)
        except WrongUseError:  # nothing was written, and nothing says which columns it would have
            return ()

    def _table_changes(self, name: str, rows: dict[str, Any]) -> list[str]:
        """The rows of a table that differ from those that were printed; null for those that are gone."""
        before = self._table_rows.get(name, {})
        changed = {key: row for key, row in rows.items() if before.get(key) != row}
        self._table_rows[name] = rows
        return [
            f"{key}: {_text(row)}" for key, row in (changed | dict.fromkeys(before.keys() - rows)).items()
        ]

    def _print(self, name: str, width: int, texts: Sequence[str]) -> None:
        left_out = len(texts) - self.limit
        if left_out > 0:
            click.secho(
                f"{name}: {left_out} earlier rows are not shown; --limit shows more", err=True, dim=True
            )
        for text in texts[max(left_out, 0) :]:
            click.echo(f"{click.style(name.ljust(width), bold=True)}  {text}")

    def _print_left_out(self) -> None:
        late, bad = self.app.late(), self.app.bad()
        texts = [f"late for {one.operator}: {_text(one.row)}" for one in late[self._late :]]
        texts += [
            f"left out: {one.stream}#{one.partition} at offset {one.offset}: {one.reason}"
            for one in bad[self._bad :]
        ]
        self._late, self._bad = len(late), len(bad)
        for text in texts[: self.limit]:
            click.secho(text, err=True, fg="yellow")
        if len(texts) > self.limit:
            click.secho(f"and {len(texts) - self.limit} more late or left out", err=True, fg="yellow")

    def _print_counts(self, contents: Mapping[str, Mapping[str, Any]]) -> None:
        streams = _listed((name, self.app.size(name)) for name in self.app.streams)
        tables = _listed((name, len(rows)) for name, rows in contents.items())
        parts = [f"records: {streams}", f"tables: {tables}" if tables else ""]
        parts.append(f"late {self._late}, left out {self._bad}")
        click.echo("; ".join(part for part in parts if part), err=True)

    def _all_tables(self) -> list[str]:
        return [table.name for table in self.app.app.spec.tables if table.remote is None]

    def _table(self, name: str) -> dict[str, Any] | None:
        """The rows of a table; None where the app has ended and its stores with it."""
        try:
            return self.app.table(name)
        except WrongUseError:
            return None


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts)


def _text(row: Any) -> str:
    return json.dumps(row, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
