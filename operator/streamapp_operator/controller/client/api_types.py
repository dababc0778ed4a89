"""Types of what users write in the API's own words, such as pod templates: the Kubernetes client's models.

The API server drops what it does not know and refuses what has another type only when an object is created.
By then an app would have ended its last driver.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kubernetes.aio.client import models
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from streamapp.spec.problem import nearest
from streamapp.spec.text.document import Path, dotted
from streamapp.spec.validation.error_messages import MESSAGES, describe_value

_MODEL_NAME: Final = re.compile(r"(?:List\[|Dict\[str, )*(\w+)\]*")
_QUANTITIES: Final = (
    ("resources", "limits", None),
    ("resources", "requests", None),
    ("emptyDir", "sizeLimit"),
    ("resourceFieldRef", "divisor"),
)
"""The ends of paths where the API takes a number for a quantity; None stands for any name."""


@dataclass(frozen=True, slots=True)
class ApiType:
    """A type of the API, and how messages name it."""

    model: Any
    name: str
    whole: str  # the object that it is a part of


POD_TEMPLATE: Final = ApiType(models.V1PodTemplateSpec, "a pod template", "a pod")
NETWORK_PEER: Final = ApiType(models.V1NetworkPolicyPeer, "a peer of a NetworkPolicy", "a NetworkPolicy")
EGRESS_RULE: Final = ApiType(
    models.V1NetworkPolicyEgressRule, "an egress rule of a NetworkPolicy", "a NetworkPolicy"
)


def pod_template_problems(template: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """The path and message of each value with a wrong type, missing field and unknown field."""
    spec = template.get("spec")
    if isinstance(spec, dict) and spec.get("containers") is None:
        template = {**template, "spec": {**spec, "containers": []}}  # the operator adds its own container
    yield from type_problems(POD_TEMPLATE, template, path)


def type_problems(api_type: ApiType, value: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """The same for a value of any type."""
    plain = _as_typed(value, ())
    try:
        model = api_type.model.model_validate(plain)
    except ValidationError as error:
        details = {_place(detail["loc"]): detail for detail in error.errors(include_url=False)}
        for place, detail in details.items():
            yield dotted((path, *place)), _message(api_type, place, detail)
        return
    document = model.model_dump(by_alias=True, exclude_unset=True)
    for place in _renamed(plain, document, ()):
        yield dotted((path, *place)), _unknown(api_type, place)


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


def _message(api_type: ApiType, place: Path, detail: ErrorDetails) -> str:
    if detail["type"] == "extra_forbidden":
        return _unknown(api_type, place)
    if detail["type"] == "missing":
        return f"missing; {api_type.whole} needs it"
    if place[-1] == "port":
        return f"found {describe_value(detail['input'])} where a number or a name is expected"
    say: Callable[[Mapping[str, Any], object], str] | None = MESSAGES.get(detail["type"])
    return say(detail.get("ctx", {}), detail["input"]) if say else detail["msg"]


def _unknown(api_type: ApiType, place: Path) -> str:
    names = _names_at(api_type, place[:-1])
    return f"{api_type.name} has no such field{nearest(str(place[-1]), names)}"


def _names_at(api_type: ApiType, place: Path) -> tuple[str, ...]:
    """The names of the fields that the API has at a place."""
    model: Any = api_type.model
    for step in place:
        if isinstance(step, int):
            continue
        attributes: Mapping[str, str] = {json: name for name, json in model.attribute_map.items()}
        type_name = _MODEL_NAME.fullmatch(model.openapi_types.get(attributes.get(step, ""), ""))
        model = getattr(models, type_name[1], api_type.model) if type_name else api_type.model
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
