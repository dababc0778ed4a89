"""The CustomResourceDefinition, made from the model: a structural schema, its defaults, and its CEL rules."""

from typing import Any

import yaml

from streamapp.spec.app import GROUP, KIND, VERSION, Spec
from streamapp.spec.marks import CRD, EFFECT, NEEDS
from streamapp.spec.status import Status

Schema = dict[str, Any]

_DROPPED = {"title", "additionalProperties", EFFECT, NEEDS, CRD, "$defs", "const"}

ONE_OF = {"Operator": 2, "System": 2, "Window": 1}
"""Entries with exactly one kind beside their name: counting properties costs no CEL."""

RULES: dict[str, list[Schema]] = {
    "Map": [{"rule": "has(self.select) != has(self.python)", "message": "takes either select or python"}],
    "FlatMap": [{"rule": "has(self.select) != has(self.python)", "message": "takes either select or python"}],
    "Stream": [
        {
            "rule": "has(self.topic) == has(oldSelf.topic) && (!has(self.topic) || self.topic == oldSelf.topic)",
            "message": "topic is immutable; give the stream a new name",
        }
    ],
    "State": [
        {
            "rule": "[has(self.persistentVolumeClaim), has(self.hostPath), has(self.emptyDir)].filter(k, k).size() <= 1",
            "message": "takes one kind of volume",
        }
    ],
    "Spec": [
        {
            "rule": "has(self.applicationId) == has(oldSelf.applicationId) && "
            "(!has(self.applicationId) || self.applicationId == oldSelf.applicationId)",
            "message": "applicationId is immutable",
        },
        {
            "rule": "self.grouper == oldSelf.grouper || self.resetNonce > oldSelf.resetNonce",
            "message": "grouper changes only together with a raised resetNonce: tasks are the addresses of state",
        },
        {
            "rule": "self.resetNonce > oldSelf.resetNonce || "
            "self.tables.all(t, oldSelf.tables.all(o, o.name != t.name || o.store == t.store))",
            "message": "a table's store changes only together with a raised resetNonce",
        },
        {
            "rule": "self.resetNonce >= oldSelf.resetNonce && self.restartNonce >= oldSelf.restartNonce",
            "message": "nonces only grow",
        },
        {
            "rule": "has(self.operatorClass) == has(oldSelf.operatorClass) && "
            "(!has(self.operatorClass) || self.operatorClass == oldSelf.operatorClass)",
            "message": "operatorClass is immutable",
        },
    ],
}

NAME_RULES = [
    {
        "rule": "self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
        "message": "metadata.name must be a DNS label of at most 40 characters",
    }
]

COLUMNS = (
    ("Phase", "string", ".status.phase", 0),
    ("Plan", "string", ".status.plan.outcome", 0),
    ("Tasks", "integer", ".status.tasks", 0),
    ("Processors", "integer", ".status.processors", 0),
    ("Restarts", "integer", ".status.restarts", 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
    ("Reason", "string", ".status.reason", 1),
    ("Driver", "string", ".status.driver.pod", 1),
    ("Node", "string", ".status.driver.node", 1),
)


def definition() -> Schema:
    """The whole CustomResourceDefinition."""
    names = {"kind": KIND, "listKind": f"{KIND}List", "plural": "streamapps", "singular": "streamapp"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"streamapps.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {**names, "shortNames": ["sapp"], "categories": ["streaming"]},
            "versions": [_version()],
        },
    }


def text() -> str:
    """The CustomResourceDefinition as YAML."""
    return yaml.dump(definition(), Dumper=_Plain, sort_keys=False, width=110)


def _version() -> Schema:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [
            {"name": name, "type": kind, "jsonPath": path} | ({"priority": priority} if priority else {})
            for name, kind, path, priority in COLUMNS
        ],
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.processors",
                "statusReplicasPath": ".status.processors",
                "labelSelectorPath": ".status.selector",
            },
        },
        "schema": {"openAPIV3Schema": _root()},
    }


def _root() -> Schema:
    return {
        "type": "object",
        "description": "A stateful stream application.",
        "required": ["metadata", "spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(Spec.model_json_schema(by_alias=True)),
            "status": structural(Status.model_json_schema(by_alias=True)),
        },
        "x-kubernetes-validations": NAME_RULES,
    }


def structural(root: Schema) -> Schema:
    """A model's JSON schema in the form that Kubernetes takes: references laid in, no unions, every list bounded."""
    definitions = root.get("$defs", {})

    def lay(schema: Schema, name: str) -> Schema:
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = {**definitions[name], **{k: v for k, v in schema.items() if k != "$ref"}}
        if "anyOf" in schema:
            (variant,) = [v for v in schema["anyOf"] if v.get("type") != "null"]
            outer = {k: v for k, v in schema.items() if k not in {"anyOf", "default"}}
            return lay({**variant, **outer}, name)
        extra = schema.get(CRD, {})
        laid = {k: v for k, v in schema.items() if k not in _DROPPED} | extra
        if "properties" in schema:
            laid["properties"] = {k: lay(v, "") for k, v in schema["properties"].items()}
        if "items" in schema:
            laid["items"] = lay(schema["items"], "")
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and "x-kubernetes-preserve-unknown-fields" not in extra:
            laid["additionalProperties"] = lay(values, "")
        if laid.get("default", ...) is None:
            del laid["default"]
        if name in ONE_OF:
            laid |= {"minProperties": ONE_OF[name], "maxProperties": ONE_OF[name]}
        if name in RULES:
            laid["x-kubernetes-validations"] = RULES[name]
        return laid

    return lay(root, root["title"])


class _Plain(yaml.SafeDumper):
    """Repeats what stands twice instead of pointing at it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
