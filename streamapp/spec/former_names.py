"""Renamed fields: an app by the current names, whichever it was written by, and by the former ones.

One version understands both. What outlives a process keeps the former names for as long: a driver of an older
image reads it, and its hash is what says whether an app was edited.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from streamapp.spec.log_levels import SPARK_LEVEL_VARIABLE
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.field_marks import Former, renamed_message
from streamapp.spec.text.document import Path, dotted
from streamapp.spec.validation.error_messages import describe_value, model_in


@dataclass(slots=True)
class CurrentForm:
    """A document by the current names, and the former ones that it has."""

    data: Any
    filled_in: bool  # whether an API server has filled in defaults
    written: dict[Path, Path] = field(default_factory=dict)  # from the current path to the one in the text
    renamed: list[tuple[Path, str]] = field(default_factory=list)
    contradictions: list[tuple[Path, str]] = field(default_factory=list)


def former_mark(metadata: list[Any]) -> Former | None:
    """What a field was called before, by its marks."""
    return next((mark for mark in metadata if isinstance(mark, Former)), None)


def current_form(data: Any, filled_in: bool) -> CurrentForm:
    """A document with former names replaced. A document without any is not copied.

    In an object of the cluster, a former name at its default says nothing: API servers that had the former
    definition have filled it in.
    """
    form = CurrentForm(data, filled_in)
    form.data = _with_spark_level(_current(data, StreamApp, (), form), form)
    return form


def _with_spark_level(data: Any, form: CurrentForm) -> Any:
    """The level of Spark's lines as a field, where a variable says it. The variable stays where it is."""
    spec = data.get("spec") if isinstance(data, dict) else None
    if not isinstance(spec, dict):
        return data
    entries = spec.get("env")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not isinstance(entry, dict) or entry.get("name") != SPARK_LEVEL_VARIABLE:
            continue
        level, logging = entry.get("value"), spec.get("logging", {})
        if not isinstance(level, str) or not isinstance(logging, dict):
            continue
        place, current = ("spec", "env", index, "value"), ("spec", "logging", "sparkLevel")
        form.renamed.append((place, renamed_message(SPARK_LEVEL_VARIABLE, dotted(current))))
        known = logging.get("sparkLevel")
        if known is None:
            form.written[current] = place
            spec = {**spec, "logging": {**logging, "sparkLevel": level.lower()}}
        elif known != level.lower():
            message = f'says {describe_value(level)}, and "{dotted(current)}" something else; leave it out'
            form.contradictions.append((place, message))
    return data if spec is data["spec"] else {**data, "spec": spec}


def _current(value: Any, model: type[BaseModel], path: Path, form: CurrentForm) -> Any:
    if isinstance(value, list):
        entries = [_current(entry, model, (*path, index), form) for index, entry in enumerate(value)]
        return entries if any(new is not old for new, old in zip(entries, value, strict=True)) else value
    if not isinstance(value, dict):
        return value
    fields = dict(value)
    for name, info in model.model_fields.items():
        alias = info.alias or name
        if mark := former_mark(info.metadata):
            _rename(fields, alias, mark, info.get_default(), path, form)
        elif alias in fields and (inner := model_in(info.annotation)):
            fields[alias] = _current(fields[alias], inner, (*path, alias), form)
    unchanged = fields.keys() == value.keys() and all(fields[name] is value[name] for name in value)
    return value if unchanged else fields


def _rename(
    fields: dict[str, Any], alias: str, mark: Former, default: Any, path: Path, form: CurrentForm
) -> None:
    """Replace the former name or value of one field of one mapping."""
    if not mark.name:
        current = mark.current_value(fields.get(alias))
        if current != fields.get(alias):
            form.renamed.append(((*path, alias), renamed_message(fields[alias], current)))
            fields[alias] = current
        return
    if mark.name not in fields:
        return
    former = fields.pop(mark.name)
    current = mark.current_value(former)
    place = (*path, mark.name)
    says_nothing = form.filled_in and current == default
    if alias not in fields:
        fields[alias] = current
        form.written[(*path, alias)] = place
        if not says_nothing:
            form.renamed.append((place, renamed_message(mark.name, mark.now_written(alias, former))))
    elif not says_nothing and current != fields[alias]:
        message = f'says {describe_value(former)}, and "{alias}", its current name, says something else; '
        form.contradictions.append((place, f"{message}leave the former name out"))


def former_form(data: Mapping[str, Any]) -> dict[str, Any]:
    """An app by the former names of its fields, as drivers of earlier images read it."""
    form: dict[str, Any] = _former(data, StreamApp)
    return form


def _former(value: Any, model: type[BaseModel]) -> Any:
    if isinstance(value, list):
        return [_former(entry, model) for entry in value]
    if not isinstance(value, Mapping):
        return value
    infos = {info.alias or name: info for name, info in model.model_fields.items()}
    return dict(_former_field(name, inner, infos.get(name)) for name, inner in value.items())


def _former_field(name: str, value: Any, info: Any) -> tuple[str, Any]:
    if info is None:
        return name, value
    if mark := former_mark(info.metadata):
        return mark.name or name, mark.former_value(value)
    inner_model = model_in(info.annotation)
    return name, _former(value, inner_model) if inner_model else value


def former_fields(model: type[BaseModel]) -> Iterator[tuple[str, Former]]:
    """The renamed fields of a part: the attribute and its mark."""
    for name, info in model.model_fields.items():
        if mark := former_mark(info.metadata):
            yield name, mark
