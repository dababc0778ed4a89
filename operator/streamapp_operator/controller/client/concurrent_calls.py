"""Calls that do not depend on each other go side by side: a slow API server is waited for once."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")


async def side_by_side(calls: Iterable[Awaitable[T]]) -> list[T]:
    """The results of all calls, in order; when all have ended, the first error in that order is raised."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
