"""A thread that works beside a block, and is told to end with it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def thread_beside(work: Callable[[], None], ended: threading.Event) -> Iterator[None]:
    """The thread of `work`, which ends once `ended` is set: by the end of the block, which waits for it."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
