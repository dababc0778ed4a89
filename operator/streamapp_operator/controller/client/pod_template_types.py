"""The types of a pod template, as the API has them: the models of the Kubernetes client.

The API server drops what it does not know and refuses what has another type only when a pod is created. By
then an app would have ended its last driver.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from kubernetes.aio.client import models
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from streamapp.spec.problem import nearest
from streamapp.spec.text.document import Path, dotted
from streamapp.spec.validation.error_messages import MESSAGES, describe_value

_MODEL: Final = models.V1PodTemplateSpec
_MODEL_NAME: Final = re.compile(r"(?:List\[|Dict\[str, )*(\w+)\]*")
_QUANTITIES: Final = (
    ("resources", "limits", None),
    ("resources", "requests", None),
    ("emptyDir", "sizeLimit"),
    ("resourceFieldRef", "divisor"),
)
"""The ends of paths where the API takes a number for a quantity; None stands for any name."""


def type_problems(template: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """The path and message of each value with a wrong type, missing field and unknown field."""
    spec = template.get("spec")
    if isinstance(spec, dict) and spec.get("containers") is None:
        template = {**template, "spec": {**spec, "containers": []}}  # the operator adds its own container
    plain = _as_typed(template, ())
    try:
        model = _MODEL.model_validate(plain)
    except ValidationError as error:
        details = {_place(detail["loc"]): detail for detail in error.errors(include_url=False)}
        for place, detail in details.items():
            yield dotted((path, *place)), _message(place, detail)
        return
    document = model.model_dump(by_alias=True, exclude_unset=True)
    for place in _renamed(plain, document, ()):
        yield dotted((path, *place)), _unknown(place)


def _as_typed(value: Any, path: Path) -> Any:
    """The value without the fields that are null, which are absent ones, and with quantities as texts."""
    if isinstance(value, dict):
        return {name: _as_typed(item, (*path, name)) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_as_typed(item, (*path, index)) for index, item in enumerate(value)]
    return str(value) if type(value) in {int, float} and _is_quantity(path) else value


def _is_quantity(path: Path) -> bool:
    return any(
        len(path) >= len(end)
        and all(name in {None, step} for name, step in zip(end, path[-len(end) :], strict=True))
        for end in _QUANTITIES
    )


def _place(loc: Path) -> Path:
    """The path of an error; of a port, which is a number or a name, once for both types."""
    return loc[:-1] if loc[-2:-1] == ("port",) else loc


def _message(place: Path, detail: ErrorDetails) -> str:
    if detail["type"] == "extra_forbidden":
        return _unknown(place)
    if detail["type"] == "missing":
        return "missing; a pod needs it"
    if place[-1] == "port":
        return f"found {describe_value(detail['input'])} where a number or a name has to stand"
    say: Callable[[Mapping[str, Any], object], str] | None = MESSAGES.get(detail["type"])
    return say(detail.get("ctx", {}), detail["input"]) if say else detail["msg"]


def _unknown(place: Path) -> str:
    return f"a pod template has no such field{nearest(str(place[-1]), _names_at(place[:-1]))}"


def _names_at(place: Path) -> tuple[str, ...]:
    """The names of the fields that the API has at a place."""
    model: Any = _MODEL
    for step in place:
        if isinstance(step, int):
            continue
        attributes: Mapping[str, str] = {json: name for name, json in model.attribute_map.items()}
        type_name = _MODEL_NAME.fullmatch(model.openapi_types.get(attributes.get(step, ""), ""))
        model = getattr(models, type_name[1], _MODEL) if type_name else _MODEL
    return tuple(model.attribute_map.values())


def _renamed(value: Any, document: Any, path: Path) -> Iterator[Path]:
    """The fields that the client takes by another name than the API, such as `env_from`."""
    if isinstance(value, dict) and isinstance(document, dict):
        for name, item in value.items():
            if name in document:
                yield from _renamed(item, document[name], (*path, name))
            else:
                yield (*path, name)
    elif isinstance(value, list) and isinstance(document, list):
        for index, (item, typed) in enumerate(zip(value, document, strict=False)):
            yield from _renamed(item, typed, (*path, index))
