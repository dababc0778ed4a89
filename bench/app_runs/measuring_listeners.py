"""The listeners of a run that is measured."""

from collections.abc import Callable

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice
from streamapp_runtime.driver.reporting.listeners import Listeners


def measuring_listeners(launched: Callable[[], None], batch: Callable[[BatchResult], None]) -> Listeners:
    """Hear of the launch and of each batch; a batch that has to be repeated ends the measurement."""
    return Listeners(
        launched=lambda _: launched(),
        batch=batch,
        trouble=_repeated,
        outage=_away,
        idle=lambda: None,
        left_open=lambda *_: None,
    )


def _away(notice: OutageNotice) -> None:
    if notice.of_batch:
        _repeated(notice.reason)


def _repeated(why: str) -> None:
    raise RuntimeError(why)
