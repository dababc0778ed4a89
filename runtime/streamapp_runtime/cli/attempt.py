"""Runs an app to its end, whichever that is, and says what the end was."""

import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from streamapp.protocol.ending import Code
from streamapp_runtime.cli.outcome import Ended

if TYPE_CHECKING:
    from streamapp_runtime.driver.hearers import Hearers
    from streamapp_runtime.driver.measured import Measured
    from streamapp_runtime.driver.progress import Progress
    from streamapp_runtime.driver.stop import Stop

T = TypeVar("T")


def attempt(start: "Callable[[Stop, Hearers], None]", progress: "Progress", measured: "Measured") -> Ended:
    """Start, be heard, end: no exception leaves here."""
    from streamapp_runtime.driver.failing import FailedError
    from streamapp_runtime.driver.hearers import Hearers
    from streamapp_runtime.driver.jvm import JavaMissingError, JvmFailedError
    from streamapp_runtime.driver.refused import RefusedError
    from streamapp_runtime.driver.stop import Stop

    stop = Stop()
    stop.on_signals()
    hearers = Hearers(
        launched=_both(progress.launched, measured.launched),
        heard=_both(progress.batch, measured.batch),
        trouble=_both(progress.trouble, measured.trouble),
        idle=progress.idle,
        changed=_both(progress.changed, measured.changed),
    )
    try:
        start(stop, hearers)
    except RefusedError as refused:
        return Ended(Code.CONFIG, problems=tuple(refused.problems))
    except JavaMissingError as missing:
        return Ended(Code.MISUSE, str(missing))
    except JvmFailedError as failure:
        return Ended(Code.RETRY, str(failure))
    except FailedError as failed:
        return Ended(Code.CONFIG if failed.final else Code.RETRY, str(failed))
    except Exception as error:  # a fault of ours: whoever started this has to hear of it all the same
        traceback.print_exc()
        return Ended(Code.RETRY, f"{type(error).__name__}: {error}")
    return Ended(Code.DONE)


def _both(first: Callable[[T], None], second: Callable[[T], None]) -> Callable[[T], None]:
    def heard(told: T) -> None:
        first(told)
        second(told)

    return heard
