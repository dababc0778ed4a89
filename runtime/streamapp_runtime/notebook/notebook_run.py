"""An app that was run in this process, and its rows as Arrow, pandas or Polars."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, Literal, Self

import pandas as pd
import pyarrow as pa

from streamapp.author.app_streams import InputRoles
from streamapp.dsl import App
from streamapp.spec.problem import nearest, short
from streamapp_runtime.notebook.run_interrupt import RunInterrupt
from streamapp_runtime.notebook.run_progress import RunProgress
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import WrongUseError
from streamapp_runtime.testing.shared_jvm import end_shared_jvm

Form = Literal["pandas", "arrow", "polars"]
_FORMS: Final = ("pandas", "arrow", "polars")
_EXAMPLE: Final = '{"views": [{"user": "ann"}]}'


def run_app(
    app: App,
    data: Mapping[str, Any] | None,
    *,
    until_end: bool = True,
    partitions: int | Mapping[str, int] = 1,
    processors: int = 1,
    progress: bool = True,
) -> "NotebookRun":
    """Run an app over these rows; AppRefusedError with every problem where it cannot run."""
    interrupt = RunInterrupt()
    try:
        with interrupt.noted():
            run = NotebookRun(app, partitions, processors, RunProgress(app.name, progress, interrupt))
            run.send_or_discard(data)
            if until_end:
                run.close()
                interrupt.check()
    except KeyboardInterrupt:
        end_shared_jvm()
        raise
    return run


class NotebookRun:
    """A run of an app: its rows while it is open, and what they were when it was closed."""

    def __init__(
        self, app: App, partitions: int | Mapping[str, int], processors: int, progress: RunProgress
    ) -> None:
        self._progress = progress
        self._streams: dict[str, pa.Table] = {}
        self._tables: dict[str, pa.Table] = {}
        self._app: InProcessApp | None = InProcessApp(
            app,
            partitions=partitions,
            processors=processors,
            spark_notice=lambda text: progress.show(f"starting Spark, which {text} needs"),
        )
        self._app.batch_done = progress.batch_done
        self._is_batch = self._app.app.spec.mode == "batch"

    def __enter__(self) -> Self:
        """Close at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._app is None else "open"
        return f"NotebookRun of {self._progress.name}, {state}: {self._progress.counts}"

    def send(self, data: Mapping[str, Any] | None) -> None:
        """Write rows by stream and have the app read them to the end, first what fills tables."""
        app = self._opened()
        if not isinstance(data, Mapping):
            raise WrongUseError(f"data: no rows by stream, but {short(repr(data))}; give them as {_EXAMPLE}")
        side_inputs = InputRoles.of(app.app).side_inputs
        records = {stream: app.encoded(stream, _dicts(stream, rows)) for stream, rows in data.items()}
        first = {stream: batch for stream, batch in records.items() if stream in side_inputs}
        try:
            for part in (first, {stream: batch for stream, batch in records.items() if stream not in first}):
                if part:
                    app.send_records(part)
            if self._is_batch:
                app.run_turn()
        finally:  # how far it has come is of interest also where it fails
            self._progress.show()
        self._progress.interrupt.check()

    def send_or_discard(self, data: Mapping[str, Any] | None) -> None:
        """The same, and end the app where that fails."""
        try:
            self.send(data)
        except BaseException:
            self.discard()
            raise

    def rows(self, stream: str, form: Form = "pandas") -> Any:
        """The rows of a stream, partition by partition."""
        if self._app is not None:
            return _in_form(self._app.arrow(stream), form)
        return _in_form(_named(self._streams, "stream", stream), form)

    def table(self, name: str, form: Form = "pandas") -> Any:
        """The rows of a table by their keys, which are the column `__key`."""
        if self._app is not None:
            return _in_form(self._app.table_arrow(name), form)
        if self._is_batch:
            raise WrongUseError("the tables of an app with mode: batch are not kept after a run")
        return _in_form(_named(self._tables, "table", name), form)

    def close(self) -> None:
        """End the app and keep its rows in memory; its streams and stores are deleted."""
        if self._app is None:
            return
        try:
            for name in self._app.streams:
                with suppress(WrongUseError):  # nothing says which columns it has
                    self._streams[name] = self._app.arrow(name)
            if not self._is_batch:
                self._tables = {name: self._app.table_arrow(name) for name in self._app.tables}
        finally:
            self.discard()

    def discard(self) -> None:
        """End the app, and delete its streams and stores."""
        if self._app is not None:
            self._app.close()
            self._app = None

    def _opened(self) -> InProcessApp:
        if self._app is None:
            raise WrongUseError("the run is closed; run the app with until_end=False to send more rows")
        return self._app


def _named(tables: Mapping[str, pa.Table], kind: str, name: str) -> pa.Table:
    if name not in tables:
        raise WrongUseError(f'no {kind} "{name}"{nearest(name, list(tables))}')
    return tables[name]


def _dicts(stream: str, rows: Any) -> list[Any]:
    """Rows as the kit takes them, from dicts or from a table of any library that speaks Arrow."""
    if isinstance(rows, pd.DataFrame) or hasattr(rows, "__arrow_c_stream__"):
        table: pa.Table = pa.table(rows)
        return list(table.to_pylist())
    if isinstance(rows, Iterable) and not isinstance(rows, str | bytes | Mapping):
        return list(rows)
    raise WrongUseError(
        f'data: "{stream}" is given a {type(rows).__name__}; give a list of dicts, or a table of '
        "Arrow, pandas or Polars"
    )


def _in_form(table: pa.Table, form: str) -> Any:
    match form:
        case "arrow":
            return table
        case "pandas":
            return table.to_pandas(types_mapper=pd.ArrowDtype)  # integers with nulls stay integers
        case "polars":
            return _polars(table)
        case _:
            raise WrongUseError(f'no form "{form}"{nearest(form, list(_FORMS))}')


def _polars(table: pa.Table) -> Any:
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise WrongUseError('polars is not installed: pip install polars, or use form="pandas"') from None
    return pl.from_arrow(table)
