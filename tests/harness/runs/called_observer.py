"""An observer of a loop that calls what a test gives it."""

from collections.abc import Callable
from typing import Any

from streamapp_runtime.driver.batches.loop import LoopObserver

EVENTS = frozenset(name for name in vars(LoopObserver) if not name.startswith("_"))


class CalledObserver(LoopObserver):
    """Calls what is given under the name of an event."""

    def __init__(self, **calls: Callable[..., Any]) -> None:
        assert calls.keys() <= EVENTS
        vars(self).update(calls)
