"""The data of an app's streams: which files they are in, and their lines as keys and values."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Final

import pyarrow as pa

from streamapp.spec.problem import nearest
from streamapp_runtime.cli.dev_loop.dev_options import DataOption, UnfitOptionError, display_path
from streamapp_runtime.cli.record_input.csv_rows import read_rows
from streamapp_runtime.cli.record_input.json_lines import with_keys
from streamapp_runtime.rows.lines import Lines, UnusableLineError, read_lines

SAMPLE_FOLDER: Final = "sample"
"""The folder beside the app whose files are taken where no `--data` is said; `streamapp init` makes it."""


class LineForm(Enum):
    """The form of a line of a file."""

    JSON = "json"
    CSV = "csv"
    TEXT = "text"


FORMS: Final = {
    ".jsonl": LineForm.JSON,
    ".ndjson": LineForm.JSON,
    ".json": LineForm.JSON,
    ".csv": LineForm.CSV,
    ".txt": LineForm.TEXT,
}
"""By the end of a file's name; others are JSON lines."""


class UnfitDataError(Exception):
    """A file of data that does not fit the app; the message says why."""


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files of data by stream, and those that would be data if they were there."""

    files: dict[str, Path]
    candidates: tuple[Path, ...]


def data_files(options: Sequence[DataOption], folder: Path, streams: list[str]) -> DataFiles:
    """The files of an app's streams; UnfitOptionError for a stream that the app does not have.

    A file that is named for a stream comes before those of folders.
    """
    named: dict[str, Path] = {}
    folders = [option.path for option in options if option.stream is None]
    for option in options:
        if option.stream is not None:
            if option.stream not in streams:
                raise UnfitOptionError(
                    f'--data: no stream "{option.stream}"{nearest(option.stream, streams)}'
                )
            named[option.stream] = option.path
    candidates = [
        (stream, place / f"{stream}{suffix}")
        for place in (folders if options else [folder / SAMPLE_FOLDER])
        for stream in streams
        for suffix in FORMS
    ]
    in_folders = {stream: path for stream, path in reversed(candidates) if path.is_file()}
    return DataFiles({**in_folders, **named}, (*named.values(), *(path for _, path in candidates)))


@dataclass(frozen=True, slots=True)
class FileLines:
    """The lines of a file."""

    keys: pa.BinaryArray
    values: pa.BinaryArray
    has_unfinished: bool  # whether the last line is left out for now


def read_file_lines(path: Path, key: str | None) -> FileLines:
    """The lines of a file with their keys; UnfitDataError where it cannot be read.

    A last line without an end that is no JSON yet is left out: somebody is writing it. Another line that is
    no JSON is a record without a key, so that the app's `onBadRecord` decides.
    """
    form = FORMS.get(path.suffix, LineForm.JSON)
    try:
        content = path.read_bytes()
        finished = _finished(content) if form is LineForm.JSON else content
        blocks = list(_blocks(finished, form, key))
    except OSError as error:
        raise UnfitDataError(f"cannot read {display_path(path)}: {error.strerror}") from None
    except UnusableLineError as error:
        raise UnfitDataError(f"{display_path(path)}: {error}") from None
    empty = pa.array([], pa.binary())
    return FileLines(
        keys=pa.concat_arrays([empty, *(keys for keys, _ in blocks)]),
        values=pa.concat_arrays([empty, *(values for _, values in blocks)]),
        has_unfinished=len(finished) < len(content),
    )


def _blocks(
    content: bytes, form: LineForm, key: str | None
) -> Iterable[tuple[pa.BinaryArray, pa.BinaryArray]]:
    match form:
        case LineForm.CSV:
            yield from read_rows(BytesIO(content), key) if content.strip() else ()
        case LineForm.TEXT:
            for lines in read_lines(BytesIO(content)):
                yield pa.nulls(len(lines.values), pa.binary()), lines.values
        case LineForm.JSON:
            for lines in read_lines(BytesIO(content)):
                yield _keyed(lines, key)


def _finished(content: bytes) -> bytes:
    """Without a last line that has no end and is no JSON."""
    complete, _, last = content.rpartition(b"\n")
    if not last.strip():
        return content
    try:
        json.loads(last)
    except ValueError:
        return complete
    return content


def _keyed(lines: Lines, key: str | None) -> tuple[pa.BinaryArray, pa.BinaryArray]:
    try:
        return with_keys(lines, key)
    except UnusableLineError:
        values, _ = lines.filled()
        return pa.array(_keys_of_usable(values, key), pa.binary()), values


def _keys_of_usable(values: pa.BinaryArray, key: str | None) -> Iterator[bytes | None]:
    for place in range(len(values)):
        try:
            yield with_keys(Lines(values.slice(place, 1), 1), key)[0][0].as_py()
        except UnusableLineError:
            yield None
