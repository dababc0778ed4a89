"""The process that judges generations: one at a time, each within bounds of processor time and memory.

It reads JSON from its standard input and answers with pickles, each after its length. It ends with its input.
"""

import json
import os
import pickle
import resource
import signal
import sys
from types import FrameType
from typing import BinaryIO, Final, TypedDict

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.generation_judgement import GenerationJudgement, judge_generation

LENGTH_BYTES: Final = 8
MEMORY_BYTES: Final = 256 * 2**20
AGAIN_SECONDS: Final = 0.1
"""An exception that comes while an object is being freed is dropped, so that it comes again."""
NICE: Final = 10
"""The operator's own process goes first."""


class CostExceededError(BaseException):
    """A judgement took more processor time than it may; nothing that is judged may catch this."""


def _exceeded(_: int, __: FrameType | None) -> None:
    raise CostExceededError


def framed(payload: bytes) -> bytes:
    """A payload after its length."""
    return len(payload).to_bytes(LENGTH_BYTES) + payload


def _write_message(stream: BinaryIO, payload: bytes) -> None:
    stream.write(framed(payload))
    stream.flush()


def _read_message(stream: BinaryIO) -> bytes | None:
    head = stream.read(LENGTH_BYTES)
    return stream.read(int.from_bytes(head)) if len(head) == LENGTH_BYTES else None


class JudgementRequest(TypedDict):
    """A generation to judge, and the seconds of processor time that it may take."""

    manifest: Manifest
    seconds: float


def judge_within(request: JudgementRequest) -> GenerationJudgement | None:
    """The judgement of a generation; None where it takes more time or memory than it may."""
    signal.setitimer(signal.ITIMER_PROF, request["seconds"], AGAIN_SECONDS)
    try:
        return judge_generation(request["manifest"])
    except (CostExceededError, MemoryError, RecursionError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    """Answer requests until the input ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    os.nice(NICE)
    signal.signal(signal.SIGPROF, _exceeded)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the operator ends its workers by their input
    _write_message(sys.stdout.buffer, b"")
    while (payload := _read_message(sys.stdin.buffer)) is not None:
        _write_message(sys.stdout.buffer, pickle.dumps(judge_within(json.loads(payload))))


if __name__ == "__main__":
    main()
