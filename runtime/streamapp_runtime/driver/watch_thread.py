"""A thread that watches while something else is waited for, and ends with that wait."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def watching(name: str, watch: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run a watch on a thread of this name; the event is set once nothing is waited for any more."""
    done = threading.Event()
    thread = threading.Thread(target=watch, args=(done,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
