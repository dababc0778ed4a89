"""The JSON Schema of the resource, by itself and in the language server that editors start."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, TypeAdapter

from streamapp.spec.parser import parse
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.schema.crd_manifest import crd_definition
from streamapp.spec.schema.editor_schema import editor_schema, editor_schema_text
from streamapp.spec.validation.error_messages import model_in
from streamapp.spec.value_types.scalars import APP_NAME, NAME
from tests.harness.core.sample_resource import everything
from tests.harness.machine.yaml_language_server import LanguageServer, yaml_language_server
from tests.streamapp.cli.conftest import EXAMPLES

SPEC = editor_schema()["properties"]["spec"]
MODELINE = "# yaml-language-server: $schema=streamapp.schema.json\n"
PAGE_VIEWS = (EXAMPLES / "page-views" / "app.yaml").read_text(encoding="utf-8")


def fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a schema, with its path."""
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(field, f"{path}.{name}")
    if "items" in schema:
        yield from fields(schema["items"], f"{path}[]")


def models(model: type[BaseModel] = StreamApp) -> Iterator[type[BaseModel]]:
    yield model
    for info in model.model_fields.values():
        if nested := model_in(info.annotation):
            yield from models(nested)


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    """A language server over a folder that holds the schema."""
    folder = tmp_path_factory.mktemp("editor")
    (folder / "streamapp.schema.json").write_text(editor_schema_text(), encoding="utf-8")
    with yaml_language_server(folder) as server:
        yield server


def test_an_editor_says_of_each_field_what_kubectl_explain_says() -> None:
    cluster = crd_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    cluster_texts = {path: field["description"] for path, field in fields(cluster)}
    editor_texts = dict(fields(SPEC))
    assert len(cluster_texts) > 150
    assert {path: editor_texts[path]["description"] for path in cluster_texts} == cluster_texts


def test_every_field_has_a_sentence() -> None:
    assert [path for path, field in fields(editor_schema()) if not field.get("description")] == [
        f".spec.systems[].kafka.config.{name}"
        for name in SPEC["properties"]["systems"]["items"]["properties"]["kafka"]["properties"]["config"][
            "properties"
        ]
    ]


def test_defaults_are_those_that_the_cluster_sets() -> None:
    cluster = crd_definition()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    defaults = {path: field["default"] for path, field in fields(cluster) if "default" in field}
    assert {path: f["default"] for path, f in fields(SPEC) if "default" in f} == defaults


def test_a_text_that_is_neither_chosen_nor_a_name_has_an_example() -> None:
    for path, field in fields(SPEC):
        if field.get("type") == "string" and not {"enum", "const"} & field.keys():
            free = ".config." in path or path.endswith(".env[].value")
            assert free or field.get("pattern") in {NAME, APP_NAME} or field["examples"], path


def test_examples_are_values_that_the_resource_takes() -> None:
    checked = 0
    for model in set(models()):
        schema = model.model_json_schema(by_alias=True)
        for name, info in model.model_fields.items():
            property_schema = schema["properties"][info.alias or name]
            variants = [property_schema, *property_schema.get("anyOf", ())]
            for example in [text for variant in variants for text in variant.get("examples", ())]:
                TypeAdapter(info.rebuild_annotation()).validate_python(example)
                checked += 1
    assert checked > 50


def test_what_the_limits_of_a_cluster_refuse_is_no_error_in_a_file() -> None:
    limited = {path for path, field in fields(SPEC) if "maxItems" in field}
    assert limited == {".operators[].join.from"}


@pytest.mark.usefixtures("process")
@pytest.mark.usefixtures("editor")
def test_patterns_are_read_by_the_engine_of_editors() -> None:
    patterns = sorted({field["pattern"] for _, field in fields(editor_schema()) if "pattern" in field})
    program = f"for (const p of {json.dumps(patterns)}) new RegExp(p, 'u')"
    assert patterns
    node = shutil.which("node")
    assert node, "the language server runs on it"
    subprocess.run([node, "-e", program], check=True)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("example", sorted(path.parent.name for path in EXAMPLES.glob("*/app.yaml")))
def test_a_language_server_finds_nothing_wrong_in_an_example(editor: LanguageServer, example: str) -> None:
    text = (EXAMPLES / example / "app.yaml").read_text(encoding="utf-8")
    assert editor.problems(MODELINE + text) == []


@pytest.mark.usefixtures("process")
def test_a_language_server_takes_a_resource_with_every_field(editor: LanguageServer) -> None:
    text = yaml.safe_dump(everything(), sort_keys=False)
    assert parse(text).problems == ()
    assert editor.problems(MODELINE + text) == []


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("processors: 4", "procesors: 4", "7: Property procesors is not allowed."),
        ("processors: 4", "processors: four", '7: Incorrect type. Expected "integer".'),
        ("processors: 4", "processors: 0", "7: Value is below the minimum of 1."),
        ("type: inner", "type: outer", '25: Value is not accepted. Valid values: "inner", "left".'),
        ("delay: 5s", "delay: soon", "17: allowed is a duration such as 500ms, 5s, 10m, 1h30m or 7d"),
        ("table: users, type", "type", '25: Missing property "table".'),
        ("kind: StreamApp", "kind: StreamApps", '3: Value must be "StreamApp".'),
        ("processors: 4", "config: {job.control.intervall: 1s}", "7: Property job.control.intervall is not"),
        ("embedded: {path: data}", "kafka: {bootstrapServers: 'k:1', config: {sasl.password: x}}", "10: Pro"),
        ("filter:      {", "map: {from: views, select: user}, filter: {", "23: Object has more properties"),
    ],
)
def test_a_language_server_marks_the_line_of_an_error(
    editor: LanguageServer, right: str, wrong: str, problem: str
) -> None:
    text = MODELINE + PAGE_VIEWS.replace(right, wrong, 1)
    (found,) = editor.problems(text)
    assert found.startswith(problem)
    assert parse(text).problems


@pytest.mark.usefixtures("process")
def test_a_language_server_offers_fields_with_what_they_mean(editor: LanguageServer) -> None:
    offered = editor.completions(MODELINE + PAGE_VIEWS + "  |")
    assert offered["delivery"] == SPEC["properties"]["delivery"]["description"]
    assert "operators" not in offered


@pytest.mark.usefixtures("process")
def test_a_language_server_offers_the_kinds_of_an_operator(editor: LanguageServer) -> None:
    text = PAGE_VIEWS.replace("  placement:", "    - name: new\n      |\n  placement:")
    kinds = SPEC["properties"]["operators"]["items"]["properties"].keys() - {"name"}
    assert editor.completions(MODELINE + text).keys() == kinds


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("before", "after", "values"),
    [
        ("processors: 4", "mode: |", ["stream", "batch"]),
        ("type: inner", "type: |", ["inner", "left"]),
        ("delay: 5s", "delay: |", ["0s", "30s", "10m"]),
        ("location: node", "location: |", ["node", "volume", "label:topology.kubernetes.io/zone"]),
        ("processors: 4", "suspend: |", ["true", "false"]),
    ],
)
def test_a_language_server_offers_choices_defaults_and_examples(
    editor: LanguageServer, before: str, after: str, values: list[str]
) -> None:
    text = MODELINE + PAGE_VIEWS.replace(before, after, 1)
    assert editor.completions(text).keys() == set(values)


@pytest.mark.usefixtures("process")
def test_a_language_server_explains_the_field_under_the_pointer(editor: LanguageServer) -> None:
    said = editor.hover(MODELINE + PAGE_VIEWS.replace("eventTime", "event|Time"))
    assert "When its events happened; without it the stream has no watermark" in said
