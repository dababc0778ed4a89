"""The process that validates generations: one at a time, each within bounds of processor time and memory.

It reads JSON and answers with pickles.
"""

import json
import pickle
import signal
from types import FrameType
from typing import Final, TypedDict

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.generation_validation import (
    GenerationValidation,
    validate_generation,
)
from streamapp_operator.reconciler.worker_messages import serve

MEMORY_BYTES: Final = 256 * 2**20
AGAIN_SECONDS: Final = 0.1
"""An exception that comes while an object is being freed is dropped, so that it comes again."""


class CostExceededError(BaseException):
    """A validation took more processor time than it may; nothing that is validated may catch this."""


def _exceeded(_: int, __: FrameType | None) -> None:
    raise CostExceededError


class ValidationRequest(TypedDict):
    """A generation to validate, and the seconds of processor time that it may take."""

    manifest: Manifest
    seconds: float


def validate_within(request: ValidationRequest) -> GenerationValidation | None:
    """The validation of a generation; None where it takes more time or memory than it may."""
    signal.setitimer(signal.ITIMER_PROF, request["seconds"], AGAIN_SECONDS)
    try:
        return validate_generation(request["manifest"])
    except (CostExceededError, MemoryError, RecursionError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> None:
    """Answer requests until the input ends."""
    signal.signal(signal.SIGPROF, _exceeded)
    serve(lambda payload: pickle.dumps(validate_within(json.loads(payload))), MEMORY_BYTES)


if __name__ == "__main__":
    main()
