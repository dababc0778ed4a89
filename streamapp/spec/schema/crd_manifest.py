"""The CustomResourceDefinition, made from the model: a structural schema with its defaults."""

from typing import Any

import yaml

from streamapp.spec.resource.app import GROUP, KIND, VERSION, Spec
from streamapp.spec.resource.field_marks import CRD, EFFECT
from streamapp.spec.resource.status import Status
from streamapp.spec.schema.cel_rules import NAME_RULES, RULES, property_bounds
from streamapp.spec.schema.inlined_schema import Schema, inlined

_DROPPED = {"title", "additionalProperties", EFFECT, CRD, "const", "examples"}

READY = '.status.conditions[?(@.type=="Ready")]'
COLUMNS = (
    ("Phase", "string", ".status.phase", 0),
    ("Ready", "string", f"{READY}.status", 0),
    ("Reason", "string", ".status.reason", 0),
    ("Tasks", "integer", ".status.tasks", 0),
    ("Processors", "integer", ".status.processors", 0),
    ("Restarts", "integer", ".status.restarts", 0),
    ("Age", "date", ".metadata.creationTimestamp", 0),
    ("Since", "date", f"{READY}.lastTransitionTime", 1),
    ("Updated", "date", '.metadata.managedFields[?(@.subresource=="status")].time', 1),
    ("Plan", "string", ".status.plan.outcome", 1),
    ("Driver", "string", ".status.driver.pod", 1),
    ("Node", "string", ".status.driver.node", 1),
)
"""What `kubectl get` prints; columns of priority 1 with `-o wide` only."""


def crd_definition() -> Schema:
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


def crd_yaml() -> str:
    """The CustomResourceDefinition as YAML."""
    text: str = yaml.dump(crd_definition(), Dumper=_PlainDumper, sort_keys=False, width=110)
    return text


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
    """A model's JSON schema as a structural schema of Kubernetes."""
    return inlined(root, _for_the_cluster)


def _for_the_cluster(schema: Schema, name: str) -> Schema:
    extra = schema.get(CRD, {})
    node: Schema = {k: v for k, v in schema.items() if k not in _DROPPED} | extra
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and "x-kubernetes-preserve-unknown-fields" not in extra:
        node["additionalProperties"] = values
    node |= property_bounds(name)
    if name in RULES:
        node["x-kubernetes-validations"] = RULES[name]
    return node


class _PlainDumper(yaml.SafeDumper):
    """Repeats equal values instead of writing aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
