"""The pytest plugin: a fixture that runs apps, and readable differences of rows.

pytest loads it at each start, so that it imports nothing but pytest until a test asks for the fixture.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from streamapp_runtime.testing.in_process_app import InProcessApp


@pytest.fixture
def streamapp() -> "Iterator[Callable[..., InProcessApp]]":
    """The function that runs an app in this process, given its source; each is closed after the test."""
    from streamapp_runtime.testing.in_process_app import InProcessApp

    with ExitStack() as apps:

        def start(*arguments: Any, **options: Any) -> InProcessApp:
            return apps.enter_context(InProcessApp(*arguments, **options))

        yield start


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Rows that differ, as a table."""
    kinds = {type(left).__name__, type(right).__name__}
    if op != "==" or "Rows" not in kinds:
        return None
    from streamapp_runtime.testing.row_diff import Rows, row_diff

    if isinstance(left, Rows) and isinstance(right, list):
        return row_diff(left, right, in_order=True)
    if isinstance(right, Rows) and isinstance(left, list):
        return row_diff(right, left, in_order=True)
    return None
