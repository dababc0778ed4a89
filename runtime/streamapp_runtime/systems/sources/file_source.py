"""Files of a folder or of an object store: Parquet by its columns, CSV with a header, JSON by its lines."""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.dataset as arrow_dataset
from pyarrow import fs

from streamapp.spec.resource.streams import CsvSigns
from streamapp.spec.resource.systems import FileFormat
from streamapp_runtime.rows.lines import read_lines
from streamapp_runtime.systems.sinks.sink import SinkTable
from streamapp_runtime.systems.sources.table_source import (
    BATCH_ROWS,
    LINE,
    RowForm,
    TableSnapshot,
    fitted,
    misfit_columns,
    missing_column,
)
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    InvalidSettingsError,
    RecordRefusedError,
    UnavailableError,
    UnknownStreamError,
)

_BLOCK_BYTES: Final = 4 << 20
_FILESYSTEMS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("s3", "s3a"), "S3FileSystem"),
    **dict.fromkeys(("gs", "gcs"), "GcsFileSystem"),
}
"""By the scheme of a URL, the class of pyarrow that the settings are for."""
_FORMS: Final[Mapping[FileFormat, RowForm]] = {
    "parquet": RowForm.COLUMNS,
    "csv": RowForm.TEXTS,
    "json": RowForm.LINES,
}


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file of a table, and the columns whose values its folders name: `day=2026-01-31/part-0`."""

    path: str
    folder_values: Mapping[str, str | None]  # as Hive and Spark write them


@dataclass(slots=True)
class FileSource:
    """The files below a path, each stream a file or a folder of files."""

    path: str
    format: FileFormat
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    signs: CsvSigns = field(default_factory=CsvSigns)
    _filesystem: fs.FileSystem | None = field(default=None, init=False)

    def newest(self, table: SinkTable) -> TableSnapshot:
        """The files that there are now, named by a digest of their paths, sizes and times."""
        address = f"{self.path.rstrip('/')}/{table.name}"
        with self._failures(address):
            filesystem, base = self._opened()
            root = f"{base.rstrip('/')}/{table.name}"
            listed = list(_files(filesystem, root))
            files = [
                TableFile(one.path, _folder_values(table, one.path.removeprefix(root))) for one in listed
            ]
        if not files:
            raise UnknownStreamError(f"there are no files at {address}")
        states = "\n".join(f"{one.path}\t{one.size}\t{one.mtime_ns}" for one in listed)
        misfits: tuple[str, ...] = ()
        with self._failures(files[0].path):
            misfits = tuple(self._misfits(table, files[0]))
        batches = partial(self._batches, table, files)
        return TableSnapshot(sha256(states.encode()).hexdigest()[:16], misfits, batches, _FORMS[self.format])

    def close(self) -> None:
        """Let go of the store's client."""
        self._filesystem = None

    def _opened(self) -> tuple[fs.FileSystem, str]:
        scheme, mark, base = self.path.partition("://")
        if not mark:
            self._filesystem = self._filesystem or fs.LocalFileSystem()
            return self._filesystem, self.path
        if not self.settings:
            filesystem, base = fs.FileSystem.from_uri(self.path)
            self._filesystem = self._filesystem or filesystem
        elif self._filesystem is None:
            if scheme not in _FILESYSTEMS:
                raise InvalidSettingsError(f"{scheme} has no settings; those of s3 and gs may be said")
            try:
                self._filesystem = getattr(fs, _FILESYSTEMS[scheme])(**self.settings)
            except (TypeError, ValueError):  # whose text may have values, those of the Secret too
                names = ", ".join(sorted(self.settings))
                raise InvalidSettingsError(
                    f"these are no settings of {_FILESYSTEMS[scheme]}: {names}"
                ) from None
        return self._filesystem, base

    def _batches(self, table: SinkTable, files: list[TableFile]) -> Iterator[pa.RecordBatch]:
        """The rows of all files, one after the other; each has to have the columns."""
        for file in files:
            try:
                with self._failures(file.path):
                    if misfits := list(self._misfits(table, file)):
                        raise RecordRefusedError(f"{file.path}: {'; '.join(misfits)}")
                    yield from self._rows(table, file)
            except UnknownStreamError as error:
                raise UnavailableError(f"{error} any more; the next start reads those of then") from None

    def _misfits(self, table: SinkTable, file: TableFile) -> Iterator[str]:
        if self.format == "parquet":
            there = self._dataset(file.path).schema
            yield from misfit_columns(_with_file_columns(table, file, there.names), there, tells_nulls=False)
        elif self.format == "csv":
            if nested := [one.name for one in table.schema if pa.types.is_nested(one.type)]:
                yield f"CSV has no place for the parts of {', '.join(nested)}; use json or parquet"
            names = self._header(file.path)
            if names is not None:
                wanted = _with_file_columns(table, file, names).schema.names
                yield from (missing_column(one, names) for one in wanted if one not in names)

    def _rows(self, table: SinkTable, file: TableFile) -> Iterator[pa.RecordBatch]:
        filesystem = self._opened()[0]
        if self.format == "parquet":
            dataset = self._dataset(file.path)
            names = [name for name in table.schema.names if name in dataset.schema.names]
            scanner = dataset.scanner(
                columns=names, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1
            )
            yield from (
                fitted(_with_folder_values(batch, file, names), table, file.path)
                for batch in scanner.to_batches()
            )
        elif self.format == "csv":
            if (header := self._header(file.path)) is not None:
                names = [name for name in table.schema.names if name in header]
                for batch in self._csv(file.path, names):
                    yield _with_folder_values(batch, file, names)
        else:
            with filesystem.open_input_stream(file.path) as stream:
                for lines in read_lines(stream):
                    batch = pa.RecordBatch.from_arrays([lines.filled()[0]], [LINE])
                    yield _with_folder_values(batch, file, ())

    def _dataset(self, path: str) -> Any:
        return arrow_dataset.dataset(path, format="parquet", filesystem=self._opened()[0])

    def _header(self, path: str) -> list[str] | None:
        """The names of the columns of a CSV file; None of an empty one."""
        try:
            return list(self._csv(path, []).schema.names)
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                return None
            raise

    def _csv(self, path: str, names: list[str]) -> Any:
        """The reader of these columns as texts, of all where none is named."""
        signs = self.signs
        return arrow_csv.open_csv(
            self._opened()[0].open_input_stream(path),
            arrow_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES),
            arrow_csv.ParseOptions(
                delimiter=signs.delimiter, quote_char=signs.quote, newlines_in_values=True
            ),
            arrow_csv.ConvertOptions(
                include_columns=names,
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[signs.null_text],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    @contextmanager
    def _failures(self, path: str) -> Iterator[None]:
        """The failures of the library as those of systems."""
        try:
            yield
        except pa.ArrowInvalid as error:
            raise RecordRefusedError(f"{path}: {_first_line(error)}") from None
        except FileNotFoundError:
            raise UnknownStreamError(f"there is no file {path}") from None
        except PermissionError as error:
            raise DeniedError(f"{path}: {_first_line(error)}") from None
        except OSError as error:
            raise UnavailableError(f"{path}: {_first_line(error)}") from None


def _files(filesystem: fs.FileSystem, path: str) -> Iterator[fs.FileInfo]:
    """The file of a path, or those below it by name; what other programs keep for themselves is hidden."""
    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.File:
        yield info
    elif info.type == fs.FileType.Directory:
        below = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
        for one in sorted(below, key=lambda each: each.path):
            if one.type == fs.FileType.File and not _HIDDEN.search(one.path.removeprefix(path)):
                yield one


def _folder_values(table: SinkTable, path: str) -> dict[str, str | None]:
    """The declared columns whose values the folders of a path name."""
    columns = pa.schema([(name, pa.string()) for name in table.schema.names])
    expression = arrow_dataset.HivePartitioning(columns).parse(path)
    return dict(arrow_dataset.get_partition_keys(expression))


def _with_file_columns(table: SinkTable, file: TableFile, present: Collection[str]) -> SinkTable:
    """The table without the columns that the file leaves to its folders."""
    return table.without({name for name in file.folder_values if name not in present})


def _with_folder_values(batch: pa.RecordBatch, file: TableFile, present: Collection[str]) -> pa.RecordBatch:
    """The rows of a file, with the columns that it leaves to its folders, as texts."""
    for name, text in file.folder_values.items():
        if name not in present:
            batch = batch.append_column(name, pa.repeat(pa.scalar(text, pa.string()), len(batch)))
    return batch


_HIDDEN: Final = re.compile(r"/[._]")
"""Within a path, a file or folder that is no data: `_SUCCESS`, `.part-0.crc`, `_delta_log`."""


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "")[:500] or type(error).__name__
