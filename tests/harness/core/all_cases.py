"""Many cases in one test, which fails with all those that failed.

For cases that start nothing and share one assertion: a parameter for each would cost more than what it tries.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

MOST_SHOWN = 20

Case = Callable[[object], AbstractContextManager[None]]


@contextmanager
def all_cases() -> Iterator[Case]:
    """What each case runs in, under a name; its failures are listed at the end."""
    failures: list[str] = []

    @contextmanager
    def case(name: object) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {error}")

    yield case
    if failures:
        listed = "\n\n".join(failures[:MOST_SHOWN])
        more = len(failures) - MOST_SHOWN
        pytest.fail(
            f"{len(failures)} cases failed\n\n{listed}" + (f"\n\nand {more} more" if more > 0 else "")
        )
