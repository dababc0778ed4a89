"""The worker's side of the expression server, which evaluates Spark's expressions in the JVM of the executor.

Whole Arrow batches go through a Unix socket, without a job of Spark's. Evaluation has no effects, so that a
request whose connection is lost is made again.
"""

import json
import os
import socket
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.expressions.spark_messages import message_of

_ADDRESS_FILE: Final = "streamapp-expressions"
"""In the first local directory of the JVM's block manager."""
_REQUEST: Final = struct.Struct(">iii")  # kind, number of the program, length of what follows
_REPLY: Final = struct.Struct(">ii")  # status, length of what follows
_PROGRAM: Final = struct.Struct(">i")
_MAKE, _EVALUATE = 1, 2
_DONE: Final = 0


class ExpressionServerError(Exception):
    """The server refuses an expression, or cannot be reached; the message says which and why."""


@dataclass(frozen=True, slots=True)
class SparkExpressions:
    """Expressions over columns, as Spark reads them: a condition that keeps rows, and values of those."""

    columns: str  # a column list with the names that the expressions have for them
    places: tuple[int, ...]  # of each column: its position in the row, or one that stands for something else
    where: str | None
    select: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedRows:
    """The result of a batch, with a row for each that came."""

    is_kept: pa.BooleanArray
    failures: Mapping[int, str]  # by row; one that failed is not kept
    values: tuple[pa.Array, ...]


@dataclass(frozen=True, slots=True)
class _Program:
    number: int
    schema: pa.Schema


def worker_folder() -> Path:
    """The folder with the address of the server, as a worker of Spark's is told."""
    return Path(os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0])


class ExpressionClient:
    """The connection of one lane, made when the first expression needs it; its programs end with it."""

    def __init__(self, folder: Callable[[], Path] = worker_folder) -> None:
        self._folder = folder
        self._socket: socket.socket | None = None
        self._programs: dict[SparkExpressions, _Program] = {}
        self._lock = Lock()
        self._has_ended = False

    def prepare(self, expressions: Collection[SparkExpressions]) -> None:
        """Begin to make programs, beside whatever a lane does until its first rows: the first takes long."""
        if expressions:
            Thread(target=self._prepare, args=(tuple(expressions),), daemon=True).start()

    def evaluate(
        self, expressions: SparkExpressions, columns: Sequence[pa.Array], rows: int
    ) -> EvaluatedRows:
        """Evaluate a batch, whose columns are those that the expressions name."""
        with self._lock:
            try:
                return self._evaluate(expressions, columns, rows)
            except OSError:
                self._disconnect()
            try:
                return self._evaluate(expressions, columns, rows)
            except OSError as error:
                self._disconnect()
                raise ExpressionServerError(f"Spark cannot be asked for expressions: {error}") from error

    def close(self) -> None:
        """End the connection."""
        self._has_ended = True
        with self._lock:
            self._disconnect()

    def _disconnect(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._programs.clear()

    def _prepare(self, expressions: Sequence[SparkExpressions]) -> None:
        """Make programs; what goes wrong is said where rows come to them."""
        for program in expressions:
            with self._lock, suppress(OSError, ExpressionServerError):
                if not self._has_ended:
                    self._program_of(program)

    def _evaluate(
        self, expressions: SparkExpressions, columns: Sequence[pa.Array], rows: int
    ) -> EvaluatedRows:
        program = self._program_of(expressions)
        # The column without values is there for the number of rows, which a batch has even without columns.
        counted = pa.record_batch([*columns, pa.nulls(rows)], list(map(str, range(len(columns) + 1))))
        batch = counted.select(list(range(len(columns))))
        reply = self._ask(_EVALUATE, program.number, batch.serialize())
        result = pa.ipc.read_record_batch(reply, program.schema)
        is_kept, failures, *values = result.columns
        failed = () if failures.null_count == rows else pc.indices_nonzero(failures.is_valid()).to_pylist()
        return EvaluatedRows(
            is_kept, {row: message_of(failures[row].as_py()) for row in failed}, tuple(values)
        )

    def _program_of(self, expressions: SparkExpressions) -> _Program:
        program = self._programs.get(expressions)
        if program is None:
            program = self._programs[expressions] = self._made(expressions)
        return program

    def _made(self, expressions: SparkExpressions) -> _Program:
        text = {
            "columns": expressions.columns,
            "where": expressions.where,
            "select": expressions.select,
        }
        reply = self._ask(_MAKE, 0, json.dumps(text).encode())
        (number,) = _PROGRAM.unpack_from(reply)
        return _Program(number, pa.ipc.read_schema(reply.slice(_PROGRAM.size)))

    def _ask(self, kind: int, number: int, content: bytes | pa.Buffer) -> pa.Buffer:
        connected = self._socket = self._socket or _connected(self._folder())
        connected.sendall(_REQUEST.pack(kind, number, len(content)))
        connected.sendall(content)
        status, length = _REPLY.unpack(_received(connected, _REPLY.size))
        reply = _received(connected, length)
        if status != _DONE:
            raise ExpressionServerError(message_of(reply.to_pybytes().decode()))
        return reply


def _connected(folder: Path) -> socket.socket:
    """A connection to the server of which a folder tells."""
    path, secret = (folder / _ADDRESS_FILE).read_text("utf-8").split()
    connected = socket.socket(socket.AF_UNIX)
    try:
        connected.connect(path)
        connected.sendall(secret.encode())
    except OSError:
        connected.close()
        raise
    return connected


def _received(connected: socket.socket, length: int) -> pa.Buffer:
    buffer = pa.allocate_buffer(length)
    rest = memoryview(buffer).cast("B")
    while len(rest):
        size = connected.recv_into(rest, 0, socket.MSG_WAITALL)
        if not size:
            raise ConnectionResetError("the connection has ended")
        rest = rest[size:]
    return buffer
