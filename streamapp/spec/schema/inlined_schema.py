"""A model's JSON schema with every reference replaced by what it names, and no unions.

CustomResourceDefinition and editor schema are both made from it, each by what it does with one node.
"""

from collections.abc import Callable
from typing import Any

Schema = dict[str, Any]
Finish = Callable[[Schema, str], Schema]
"""From a node, whose own nodes are finished, and the name of its model to what stands there."""


def inlined(root: Schema, finish: Finish) -> Schema:
    """The schema of a model, each node finished after those inside it."""
    definitions = root.get("$defs", {})

    def resolve(schema: Schema, name: str) -> Schema:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = {**definitions[name], **{k: v for k, v in schema.items() if k != "$ref"}}
        if "anyOf" in schema:
            (variant,) = [v for v in schema["anyOf"] if v.get("type") != "null"]
            outer = {k: v for k, v in schema.items() if k not in {"anyOf", "default"}}
            return resolve({**variant, **outer}, name)
        node = {key: value for key, value in schema.items() if key != "$defs"}
        if "properties" in node:
            node["properties"] = {k: resolve(v, "") for k, v in node["properties"].items()}
        for key in ("items", "additionalProperties"):
            if isinstance(node.get(key), dict):
                node[key] = resolve(node[key], "")
        if "default" in node and (default := _without_nulls(node.pop("default"))) is not None:
            node["default"] = default
        return finish(node, name)

    return resolve(root, str(root["title"]))


def _without_nulls(default: Any) -> Any:
    """A default without the fields that are unset, which are absent rather than null."""
    if not isinstance(default, dict):
        return default
    return {name: _without_nulls(value) for name, value in default.items() if value is not None}
