"""One JSON text as Python values that keep everything: every digit of a number, every name, even twice."""

import json


class JsonNumber(str):
    """The text of a number."""

    __slots__ = ()


class JsonObject(tuple[tuple[str, object], ...]):
    """An object's names and values as they stand."""

    __slots__ = ()


_decoder = json.JSONDecoder(
    object_pairs_hook=JsonObject, parse_float=JsonNumber, parse_int=JsonNumber, parse_constant=JsonNumber
)


def parse_lossless(text: str) -> object:
    """The value of a text: None, bool, str, Number, list or Object; ValueError when it is no JSON."""
    return _decoder.decode(text)
