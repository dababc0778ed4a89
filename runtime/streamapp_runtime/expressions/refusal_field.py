"""Which field of an operator a refusal is about."""

from collections.abc import Iterator
from contextlib import contextmanager

from streamapp_runtime.expressions.compile_refusal import CompileRefusedError


@contextmanager
def refusals_within(name: str) -> Iterator[None]:
    """Refusals raised inside are about this field, or something below it."""
    try:
        yield
    except CompileRefusedError as refused:
        place = f"{name}.{refused.field}" if refused.field else name
        raise CompileRefusedError(refused.message, place, refused.reason) from None
