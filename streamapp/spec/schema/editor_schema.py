"""The JSON Schema of the resource, by which editors complete and check a file of it.

It is made from the same nodes as the CustomResourceDefinition, so that an editor and `kubectl explain` say
the same sentences. What the limits of a cluster refuse is no error in a file: they are left to the cluster.
"""

import json
from typing import Final

from streamapp.spec.resource.app import API_VERSION, KIND, StreamApp
from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.field_marks import CRD, EFFECT
from streamapp.spec.resource.kafka_settings import ALLOWED, SECRET
from streamapp.spec.schema.cel_rules import property_bounds
from streamapp.spec.schema.inlined_schema import Schema, inlined
from streamapp.spec.value_types.scalars import MEANING

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
_MARKS = {"title", EFFECT, CRD}


def editor_schema() -> Schema:
    """The schema of one document."""
    root = inlined(StreamApp.model_json_schema(by_alias=True), _for_an_editor)
    spec = root["properties"]["spec"]["properties"]
    spec["config"] |= {"properties": _config_keys(), "additionalProperties": False}
    kafka = spec["systems"]["items"]["properties"]["kafka"]["properties"]
    kafka["config"] |= {"properties": _kafka_settings(kafka["config"]), "additionalProperties": False}
    status = {"type": "object", "description": "What the operator has written of the app; ignored in a file."}
    return {
        "$schema": DIALECT,
        "title": f"{KIND} {API_VERSION}",
        **root,
        "required": ["apiVersion", "kind", *root["required"]],
        "properties": {**root["properties"], "status": status},
    }


def editor_schema_text() -> str:
    """The schema as the text of a file."""
    return json.dumps(editor_schema(), indent=2, ensure_ascii=False) + "\n"


def _for_an_editor(schema: Schema, name: str) -> Schema:
    node = {key: value for key, value in schema.items() if key not in _MARKS}
    node |= property_bounds(name)
    if "pattern" in node:
        node["patternErrorMessage"] = f"allowed is {MEANING[node['pattern']]}"
    return node


def _config_keys() -> Schema:
    return {
        key.name: {
            "type": "string",
            "description": f"{key.says} Allowed is {key.allowed}. Unset: {key.default}.",
        }
        for key in KEYS.values()
    }


def _kafka_settings(config: Schema) -> Schema:
    return dict.fromkeys(sorted(ALLOWED - SECRET), config["additionalProperties"])
