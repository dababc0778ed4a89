"""Which field of an operator a refusal is about."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamapp_runtime.program.refusal import RefusedError


@contextmanager
def within(name: str) -> Iterator[None]:
    """Refusals raised inside are about this field, or something below it."""
    try:
        yield
    except RefusedError as refused:
        place = f"{name}.{refused.field}" if refused.field else name
        raise RefusedError(refused.message, place, refused.reason) from None
