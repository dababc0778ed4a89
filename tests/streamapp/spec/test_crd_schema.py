import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamapp.spec.parser import parse, parse_data
from streamapp.spec.resource.operators import Operator
from streamapp.spec.schema.crd_manifest import crd_definition, crd_yaml
from streamapp.spec.schema.fields import parts as fields_of
from streamapp.spec.serialization import as_data
from tests.harness.core.sample_resource import changed, everything
from tests.harness.oracles.schema_check import parts, violations

VERSION = crd_definition()["spec"]["versions"][0]
ROOT = VERSION["schema"]["openAPIV3Schema"]
SPEC = ROOT["properties"]["spec"]
PARTS = list(parts(ROOT))
REPOSITORY = Path(__file__).parents[3]


def _rules(path: str) -> str:
    return " ".join(
        rule["rule"] for at, part in PARTS if at == path for rule in part["x-kubernetes-validations"]
    )


def test_the_resource_has_its_names_category_and_one_stored_version() -> None:
    spec = crd_definition()["spec"]
    assert crd_definition()["metadata"]["name"] == "streamapps.streamapp.dev"
    assert spec["names"]["shortNames"] == ["sapp"]
    assert spec["names"]["categories"] == ["streaming"]
    assert (spec["scope"], VERSION["name"]) == ("Namespaced", "v1alpha1")
    assert VERSION["served"]
    assert VERSION["storage"]


def test_scale_and_status_are_subresources_and_point_at_fields_that_exist() -> None:
    scale = VERSION["subresources"]["scale"]
    assert VERSION["subresources"]["status"] == {}
    assert (scale["specReplicasPath"], scale["statusReplicasPath"], scale["labelSelectorPath"]) == (
        ".spec.processors",
        ".status.processors",
        ".status.selector",
    )
    known = {path for path, _ in PARTS}
    assert set(scale.values()) <= known
    columns = VERSION["additionalPrinterColumns"]
    paths = {re.sub(r"\[\?.*?\]", "[]", column["jsonPath"]) for column in columns}
    assert paths - {".metadata.creationTimestamp", ".metadata.managedFields[].time"} <= known


def test_phase_readiness_and_reason_are_printed_first_and_the_age_last_of_what_is_not_wide() -> None:
    columns = VERSION["additionalPrinterColumns"]
    assert [column["name"] for column in columns][:3] == ["Phase", "Ready", "Reason"]
    narrow = [column["name"] for column in columns if "priority" not in column]
    assert narrow == [column["name"] for column in columns][: len(narrow)]
    assert narrow[-1] == "Age"


def test_the_schema_is_structural() -> None:
    forbidden = {
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "const",
        "title",
        "nullable",
        "definitions",
        "$defs",
    }
    for path, part in PARTS:
        assert isinstance(part.get("type"), str), path
        assert part["type"] != "null", path
        assert not forbidden & set(part), path
        assert not any(key.startswith("x-streamapp") for key in part), path
        assert not ({"properties", "additionalProperties"} <= set(part)), path
        assert "additionalProperties" not in part or isinstance(part["additionalProperties"], dict), path


def test_every_list_map_and_text_is_bounded() -> None:
    for path, part in PARTS:
        if path in {".apiVersion", ".kind"}:
            continue  # the server's own
        if part["type"] == "array":
            assert "maxItems" in part, path
        if part["type"] == "string" and "enum" not in part:
            assert "maxLength" in part, path
        if "additionalProperties" in part:
            assert "maxProperties" in part, path


def test_the_lists_have_the_limits_of_the_design_and_are_merged_by_name() -> None:
    limits = {"operators": 512, "streams": 256, "tables": 64}
    for name, most in limits.items():
        part = SPEC["properties"][name]
        assert part["maxItems"] == most
        assert part["x-kubernetes-list-type"] == "map"
        assert part["x-kubernetes-list-map-keys"] == ["name"]
        assert "name" in part["items"]["required"]


def test_the_limits_of_the_cluster_are_not_those_of_the_offline_parser() -> None:
    many = [{"name": f"o{i}", "broadcast": {"from": "clicks"}} for i in range(600)]
    data = everything()
    data["spec"]["operators"] += many
    assert parse_data(data).problems == ()
    assert ".spec.operators: 613 entries" in list(violations(data, _open_metadata()))


def test_an_operator_has_a_name_and_exactly_one_kind_without_a_rule() -> None:
    items = SPEC["properties"]["operators"]["items"]
    assert (items["minProperties"], items["maxProperties"]) == (2, 2)
    assert set(items["properties"]) == {"name", *Operator.kinds()}
    assert "x-kubernetes-validations" not in items


def test_the_whole_definition_is_small_enough() -> None:
    assert len(crd_yaml().encode()) < 250_000


def test_defaults_are_those_of_the_model_and_conform_to_their_own_schema() -> None:
    for path, part in PARTS:
        if "default" in part:
            assert part["default"] is not None, path
            assert list(violations(part["default"], part, path)) == []
    for field in (field for part in fields_of() for field in part.fields):
        if field.default and field.default.startswith("`") and field.path.startswith("spec."):
            part = dict(PARTS)["." + field.path]
            shown = str(part["default"])
            assert field.default.strip("`") in {shown, shown.lower()}, field.path


def test_what_cannot_change_has_a_rule() -> None:
    rules = _rules(".spec")
    for field in ("applicationId", "operatorClass", "grouper", "tables", "resetNonce"):
        assert f"oldSelf.{field}" in rules
    assert "o.store == t.store" in rules
    assert "self.resetNonce > oldSelf.resetNonce" in rules
    assert "oldSelf.topic" in _rules(".spec.streams[]")


def test_the_name_of_an_app_has_a_rule_of_its_own() -> None:
    assert "self.metadata.name.size() <= 40" in _rules("")
    assert "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" in _rules("")


def test_every_rule_says_in_words_what_it_wants() -> None:
    rules = [rule for _, part in PARTS for rule in part.get("x-kubernetes-validations", ())]
    assert rules
    assert all(rule["message"] for rule in rules)


def test_pod_templates_keep_fields_that_the_schema_does_not_know() -> None:
    for path in (".spec.driver.template", ".spec.executor.template", ".spec.tables[].remote.options"):
        assert dict(PARTS)[path] == dict(PARTS)[path] | {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
        }


def test_every_field_is_described() -> None:
    spec = {path: part for path, part in parts(SPEC, ".spec") if not path.endswith("[]")}
    assert [path for path, part in spec.items() if not part.get("description")] == []


def _open_metadata() -> dict[str, Any]:
    """The schema with the server's own metadata left unjudged."""
    properties = {**ROOT["properties"]}
    properties["metadata"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {**ROOT, "properties": properties}


@pytest.mark.parametrize("file", sorted(REPOSITORY.glob("examples/**/*.y*ml")), ids=lambda path: path.name)
def test_the_examples_that_are_apps_conform_to_the_schema(file: Path) -> None:
    for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        if isinstance(document, dict) and document.get("kind") == "StreamApp":
            assert list(violations(document, _open_metadata())) == []


def test_an_app_with_something_of_everything_conforms_and_so_does_its_rendering() -> None:
    assert list(violations(everything(), _open_metadata())) == []
    (app,) = parse_data(everything()).apps
    assert list(violations(as_data(app), _open_metadata())) == []


SPOILT = [
    ("spec.operators[0].broadcast", {"from": "views"}),
    ("spec.processors", 0),
    ("spec.streams[0].format", "xml"),
    ("spec.operators[0].filter.extra", 1),
    ("spec.operators[7].join.from", ["real"]),
    ("spec.operators[7].join.within", "soon"),
    ("spec.applicationId", ".."),
    ("spec.systems[0].name", "local"),
]


@pytest.mark.parametrize(("path", "value"), SPOILT)
def test_what_the_schema_refuses_the_parser_refuses_too(path: str, value: object) -> None:
    data = changed(path, value)
    assert list(violations(data, _open_metadata()))
    assert parse_data(data).problems


def test_the_definition_reads_back_as_it_was_made() -> None:
    assert yaml.safe_load(crd_yaml()) == crd_definition()
    assert parse(crd_yaml()).apps == ()
