"""Objects and texts without what may be secret in them."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from streamapp.spec.redaction import REDACTED, redaction_of
from streamapp_operator.cli.support_bundle.redaction_rules import (
    FIELD_RULES,
    TEXT_RULES,
    FieldRule,
    Path,
    is_secret_name,
)

_LEAST_SEARCHED: Final = 8
"""Shorter values of variables, such as `info`, are also words of other texts."""
_PLATFORM: Final = ("STREAMAPP_", "SPARK_")
"""Variables that the operator and Spark set: names and addresses, which are of use elsewhere."""
KNOWN_VALUES: Final = "known-value"
KNOWN_VALUES_HIDE: Final = f"hidden values of {_LEAST_SEARCHED} characters or more, wherever else they occur"


class Redaction:
    """Hides by the table of rules, and what one object shows to be secret in all others; counts by rule."""

    def __init__(self, objects: Iterable[Any], public_values: Iterable[str] = ()) -> None:
        """The objects are all that is written; public values, such as names of objects, are never hidden."""
        values = {value for each in objects for value in _secret_values(each, ())}
        known_values = {value for value in values if len(value) >= _LEAST_SEARCHED} - set(public_values)
        self._hide_known_values = redaction_of(known_values)
        self.hidden = Counter[str]()

    def redacted(self, value: Any, path: Path = ()) -> Any:
        """A value of JSON, at a path, with all that is hidden replaced."""
        rule = _field_rule(path)
        if rule is not None:
            return self._hidden(value, rule.name)
        if isinstance(value, dict):
            return {self.text(key): self.redacted(each, (*path, key)) for key, each in _named(value)}
        if isinstance(value, list):
            return [self._list_item(value, number, path) for number in range(len(value))]
        return self._string(value, path) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        """A text with all that is hidden replaced."""
        for rule in TEXT_RULES:
            text, count = rule.pattern.subn(rule.replacement, text)
            self.hidden[rule.name] += count
        without_values = self._hide_known_values(text)
        self.hidden[KNOWN_VALUES] += without_values != text
        return without_values

    def _string(self, text: str, path: Path) -> str:
        document = _document(text)
        if document is None:
            return self.text(text)
        return json.dumps(self.redacted(document, path))

    def _list_item(self, items: Sequence[Any], number: int, path: Path) -> Any:
        if _follows_secret_option(items, number):
            return self._hidden(items[number], "option")
        return self.redacted(items[number], (*path, number))

    def _hidden(self, value: Any, rule: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, dict) and rule != "applied-copy":
            return {self.text(key): self._hidden(each, rule) for key, each in value.items()}
        if isinstance(value, list):
            return [self._hidden(each, rule) for each in value]
        self.hidden[rule] += 1
        return REDACTED


def _field_rule(path: Path) -> FieldRule | None:
    return next((rule for rule in FIELD_RULES if rule.hides(path)), None)


def _named(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields; a value beside a secret `name`, as in a list of headers, counts as under that name."""
    is_secret = isinstance(fields.get("name"), str) and is_secret_name(fields["name"])
    for key, value in fields.items():
        yield key, (REDACTED if is_secret and key == "value" and isinstance(value, str) else value)


def _follows_secret_option(items: Sequence[Any], number: int) -> bool:
    option = items[number - 1] if number else ""
    is_option = isinstance(option, str) and option.startswith("-") and "=" not in option
    return is_option and isinstance(items[number], str) and is_secret_name(option)


def _document(text: str) -> Any:
    """The object or list that a text is as JSON; None for another text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, (dict, list)) else None


def _secret_values(value: Any, path: Path) -> Iterator[str]:
    """The values that fields of an object show to be secret."""
    rule = _field_rule(path)
    if rule is not None:
        if rule.is_searched:
            yield from _leaves(value)
        return
    if isinstance(value, dict):
        name = str(value.get("name"))
        for key, each in value.items():
            if key != "value" or not isinstance(each, str):
                yield from _secret_values(each, (*path, key))
            elif is_secret_name(name) or not name.startswith(_PLATFORM):
                yield from [each] if is_secret_name(name) else _secret_values(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            if _follows_secret_option(value, number):
                yield each
            yield from _secret_values(each, (*path, number))
    elif isinstance(value, str) and (document := _document(value)) is not None:
        yield from _secret_values(document, path)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
