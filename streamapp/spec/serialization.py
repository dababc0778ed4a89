"""An app as the resource it is: the same text for the same app, however it was written."""

import json
from typing import Any

import yaml

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.text.yaml_scalars import scalar_value

TEXT = "tag:yaml.org,2002:str"
UNUSUAL_BREAKS = frozenset("\r\x85\u2028\u2029")
"""Readers make plain line ends of them, unless they are written as escapes."""


def as_data(app: StreamApp) -> dict[str, Any]:
    """The resource as plain values; what equals its default is left out."""
    fields = app.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    return {"apiVersion": app.api_version, "kind": app.kind, **fields}


def as_yaml(app: StreamApp) -> str:
    """The resource as YAML: blocks down to the entries of lists, entries that fit on a line on one."""
    return data_as_yaml(as_data(app))


def spec_as_yaml(app: StreamApp) -> str:
    """Its spec alone, as YAML of that kind."""
    return data_as_yaml({"spec": as_data(app)["spec"]})


def as_json(app: StreamApp) -> str:
    """The resource as JSON."""
    return json.dumps(as_data(app), indent=2, ensure_ascii=False) + "\n"


def data_as_yaml(data: dict[str, Any]) -> str:
    """Plain values of a resource as YAML of that kind."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=110, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    """Writes short, flat entries of lists on one line each, as people do."""

    def represent_sequence(
        self, tag: str, sequence: Any, flow_style: bool | None = None
    ) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        if all(isinstance(entry, yaml.ScalarNode) for entry in node.value):
            node.flow_style = True
        for entry, value in zip(node.value, sequence, strict=True):
            if isinstance(entry, yaml.MappingNode) and len(json.dumps(value, ensure_ascii=False)) <= 100:
                _flow(entry)
        return node

    def represent_str(self, data: str) -> yaml.ScalarNode:
        """In quotes where our own reader would take the plain word for something else, as for `y` or 1e3."""
        style = None if scalar_value(data) == data else "'"
        return self.represent_scalar(TEXT, data, style='"' if UNUSUAL_BREAKS & set(data) else style)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Dumper.add_representer(str, _Dumper.represent_str)


def _flow(node: yaml.Node) -> None:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, yaml.MappingNode):
            inner.flow_style = True
            waiting.extend(value for _, value in inner.value)
        elif isinstance(inner, yaml.SequenceNode):
            inner.flow_style = True
            waiting.extend(inner.value)
