"""The input of an app: the lines of its data files, made-up rows, and later the lines that are added."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from streamapp.author.app_streams import InputRoles
from streamapp_runtime.cli.dev_loop.data_lines import DataFiles, UnfitDataError, read_file_lines
from streamapp_runtime.cli.dev_loop.dev_options import SampleRows, display_path
from streamapp_runtime.cli.record_input.line_keys import line_keys
from streamapp_runtime.cli.record_input.sample_rows import Sampling, sample_rows
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.format_options import row_columns
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.testing.clock_times import START, as_datetime
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import UnfitRowError

_LINES: Final = ("json", "debezium", "string")
"""The formats whose records are lines of text, which are sent byte for byte."""
_KEYS: Final = 10
_SEED: Final = 1


class ChangedDataError(Exception):
    """Data have changed other than by lines at their end: the app has to begin from the start."""


@dataclass(slots=True)
class AppFeed:
    """Sends what there is, those streams first that fill tables, and remembers it."""

    app: InProcessApp
    roles: InputRoles
    data: DataFiles
    made_up: SampleRows
    notes: list[str] = field(default_factory=list)  # what the user should know of the data
    _sent: dict[str, list[bytes]] = field(default_factory=dict)
    _sampled: bool = False

    def send(self) -> int:
        """Send what is new, and have the app process it; how many records.

        ChangedDataError where lines that were sent are not there any more.
        """
        self.notes.clear()
        sampled, self._sampled = self._sampled, True
        side_inputs = [name for name in self._streams() if name in self.roles.side_inputs]
        inputs = [name for name in self._streams() if name not in self.roles.side_inputs]
        prepared = [self._new_records(names, sampled=sampled) for names in (side_inputs, inputs)]
        for records in prepared:
            if records:
                self.app.send_records(records)
        return sum(len(batch) for records in prepared for batch in records.values())

    def _streams(self) -> Sequence[str]:
        named = [*self.roles.side_inputs, *self.roles.inputs]
        return [*named, *(name for name in self.data.files if name not in named)]

    def _new_records(self, names: Sequence[str], *, sampled: bool) -> dict[str, pa.RecordBatch]:
        records = {}
        for name in names:
            if name in self.data.files:
                batch = self._file_records(name, self.data.files[name])
            elif sampled or name in self.roles.written or not self.made_up.rows:
                continue
            else:
                batch = self._sample_records(name)
            if len(batch):
                records[name] = batch
        return records

    def _file_records(self, name: str, path: Path) -> pa.RecordBatch:
        stream = self.app.app.spec.stream(name)
        read = read_file_lines(path, stream.key)
        if read.has_unfinished:
            self.notes.append(
                f"{display_path(path)}: the last line is not complete JSON, and is not sent yet"
            )
        lines, sent_lines = read.values.to_pylist(), self._sent.get(name, [])
        if self.app.is_refreshed(name) and lines != sent_lines:
            sent_lines = []  # a version has all rows
        if lines[: len(sent_lines)] != sent_lines:
            raise ChangedDataError(f"{display_path(path)}: lines that were sent have changed")
        self._sent[name], first = lines, len(sent_lines)
        if stream.carries_watermarks:
            raise UnfitDataError(f'"{name}" carries control messages of another app: it takes no lines')
        if stream.format not in _LINES or stream.needs_registry:
            return self._encoded(name, path, first)
        keys, values = read.keys[first:], read.values[first:]
        if keys_of_lines := line_keys(self.app.app, name):
            keys = keys_of_lines.of(values)
        times = pa.array([self.app.now] * len(values), pa.int64())
        return pa.RecordBatch.from_arrays([keys, values, times], schema=RECORDS)

    def _encoded(self, name: str, path: Path, first: int) -> pa.RecordBatch:
        """Lines from the first one on that was not sent, as records of a format that is not text."""
        place = partial("{}: record {}: {}".format, display_path(path))
        rows = list[dict[str, object]]()
        for number, line in enumerate(self._sent[name][first:], start=first + 1):
            try:
                row = json.loads(line)
            except ValueError as error:
                raise UnfitDataError(place(number, f"no JSON: {error}")) from None
            if not isinstance(row, dict):
                raise UnfitDataError(place(number, "no JSON object, so it has no columns"))
            rows.append(row)
        try:
            return self.app.encoded(name, rows)
        except UnfitRowError as error:
            raise UnfitDataError(place(first + error.number + 1, error.fault)) from None

    def _sample_records(self, name: str) -> pa.RecordBatch:
        """Made-up rows; none of a stream that has no columns."""
        stream = self.app.app.spec.stream(name)
        if stream.columns is None or stream.carries_watermarks:
            what = "declares no columns" if stream.columns is None else "carries control messages"
            self.notes.append(f'"{name}" {what} to make rows from, and gets none')
            return pa.RecordBatch.from_pylist([], schema=RECORDS)
        sampling = Sampling(
            rows=self.made_up.rows,
            keys=_KEYS,
            key_columns={one.key for one in self.app.app.spec.streams if one.key is not None},
            seed=_SEED,
            start=as_datetime(START),
            every=timedelta(seconds=self.made_up.every_seconds),
        )
        batches = sample_rows(stream, arrow_schema(row_columns(stream)), sampling)
        rows = [row for batch in batches for row in batch.to_pylist()]
        self.notes.append(f'"{name}" has no data: {len(rows)} rows are made up')
        return self.app.encoded(name, rows)
