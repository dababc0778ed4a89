"""Messages of the operator's workers, each after its length, and the bounds that a worker serves within.

A worker says with an empty message that it takes a request, and answers it. It ends with its input.
"""

import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import BinaryIO, Final, NoReturn

LENGTH_BYTES: Final = 8
NICE: Final = 10
"""The operator's own process goes first."""


def framed(payload: bytes) -> bytes:
    """A payload after its length."""
    return len(payload).to_bytes(LENGTH_BYTES) + payload


def serve(answer: Callable[[bytes], bytes], memory_bytes: int) -> None:
    """Answer requests, one at a time, until the input ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would have what a request says
    os.nice(NICE)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the operator ends its workers by their input
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    _write_message(answers, b"")
    while (payload := _read_message(requests)) is not None:
        _write_message(answers, answer(payload))
        _write_message(answers, b"")


def answer_and_end(answer: bytes) -> NoReturn:
    """Answer a request and end at once, with whatever threads a library has."""
    _write_message(sys.stdout.buffer, answer)
    os._exit(0)


def _write_message(stream: BinaryIO, payload: bytes) -> None:
    stream.write(framed(payload))
    stream.flush()


def _read_message(stream: BinaryIO) -> bytes | None:
    head = stream.read(LENGTH_BYTES)
    return stream.read(int.from_bytes(head)) if len(head) == LENGTH_BYTES else None
