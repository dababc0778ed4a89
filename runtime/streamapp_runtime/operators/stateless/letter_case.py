"""Large and small letters as Spark's ICU has them, which knows newer letters than Python may.

Both follow Unicode's tables and its rule for a final sigma. What letters Unicode got after version 14, the
oldest that Python comes with here, stands below, so that all of them know the same.
"""

from collections.abc import Iterator
from typing import Final

_PAIRS: Final = (
    (0x1C89, 0x1C89, 1),
    (0xA7CB, 0xA7CB, 0x264 - 0xA7CB),
    (0xA7CC, 0xA7CC, 1),
    (0xA7CE, 0xA7CE, 1),
    (0xA7D2, 0xA7D2, 1),
    (0xA7D4, 0xA7D4, 1),
    (0xA7DA, 0xA7DA, 1),
    (0xA7DC, 0xA7DC, 0x19B - 0xA7DC),
    (0x10D50, 0x10D65, 0x20),
    (0x16EA0, 0x16EB8, 0x1B),
)
"""Ranges of large letters, and how far from each its small one is."""
_SMALL_ONLY: Final = ((0x1DF25, 0x1DF2A),)
_IGNORED: Final = (
    *((0x897, 0x897), (0xECE, 0xECE), (0x1ACF, 0x1ADD), (0x1AE0, 0x1AEB), (0xA7F1, 0xA7F1)),
    *((0x10D4E, 0x10D4E), (0x10D69, 0x10D6D), (0x10D6F, 0x10D6F), (0x10EC5, 0x10EC5), (0x10EFA, 0x10EFF)),
    *((0x11241, 0x11241), (0x113BB, 0x113C0), (0x113CE, 0x113CE), (0x113D0, 0x113D0), (0x113D2, 0x113D2)),
    *((0x113E1, 0x113E2), (0x11B60, 0x11B60), (0x11B62, 0x11B64), (0x11B66, 0x11B66), (0x11DD9, 0x11DD9)),
    *((0x11F00, 0x11F01), (0x11F36, 0x11F3A), (0x11F40, 0x11F40), (0x11F42, 0x11F42), (0x11F5A, 0x11F5A)),
    *((0x13439, 0x13440), (0x13447, 0x13455), (0x1611E, 0x16129), (0x1612D, 0x1612F), (0x16D40, 0x16D42)),
    *((0x16D6B, 0x16D6C), (0x16FF2, 0x16FF3), (0x1E030, 0x1E06D), (0x1E08F, 0x1E08F), (0x1E4EB, 0x1E4EF)),
    *((0x1E5EE, 0x1E5EF), (0x1E6E3, 0x1E6E3), (0x1E6E6, 0x1E6E6), (0x1E6EE, 0x1E6EF), (0x1E6F5, 0x1E6F5)),
    (0x1E6FF, 0x1E6FF),
)
"""What the rule for a final sigma looks past."""
_NEITHER: Final = ((0x295, 0x295), (0x1171E, 0x1171E))
"""What was a letter with a case, or looked past, in Unicode 14 and is not any more."""
_SIGMA: Final = "\u03a3"
_SMALL_SIGMAS: Final = "\u03c3\u03c2"


def _points(ranges: tuple[tuple[int, int], ...]) -> Iterator[int]:
    for first, last in ranges:
        yield from range(first, last + 1)


_LOWER: Final = {point: point + far for first, last, far in _PAIRS for point in range(first, last + 1)}
_UPPER: Final = {small: large for large, small in _LOWER.items()}
_AS_IN_UNICODE_14: Final = (
    dict.fromkeys((*_LOWER, *_UPPER, *_points(_SMALL_ONLY)), "a")
    | dict.fromkeys(_points(_IGNORED), "\u0300")
    | dict.fromkeys(_points(_NEITHER), "1")
)


def upper_case(text: str) -> str:
    """A text in large letters."""
    return text.translate(_UPPER).upper()


def lower_case(text: str) -> str:
    """A text in small letters."""
    lower = text.translate(_LOWER).lower()
    if _SIGMA not in text:
        return lower
    # Which sigma is final, Python says of a text of old letters, each of one like it.
    sigmas = text.translate(_AS_IN_UNICODE_14).lower()
    return "".join(
        sigma if letter in _SMALL_SIGMAS else letter for letter, sigma in zip(lower, sigmas, strict=True)
    )
