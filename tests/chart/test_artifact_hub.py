"""What Artifact Hub shows of the chart is what the chart has."""

from typing import Any

import pytest
import yaml

from streamapp.spec.parser import parse_data
from streamapp.spec.schema.crd_manifest import crd_definition
from tests.harness.machine.helm import CHART

METADATA: dict[str, Any] = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def annotation(name: str) -> Any:
    return yaml.safe_load(METADATA["annotations"][f"artifacthub.io/{name}"])


def test_the_images_are_those_of_the_values_and_of_the_charts_version() -> None:
    version = METADATA["appVersion"]
    assert [one["image"] for one in annotation("images")] == [
        f"{VALUES[name]['repository']}:{version}" for name in ("image", "runtimeImage")
    ]


def test_the_definition_is_the_one_that_the_chart_brings() -> None:
    definition = crd_definition()
    (shown,) = annotation("crds")
    assert shown["name"] == definition["metadata"]["name"]
    assert shown["kind"] == definition["spec"]["names"]["kind"]
    assert [shown["version"]] == [version["name"] for version in definition["spec"]["versions"]]


@pytest.mark.parametrize("example", annotation("crdsExamples"))
def test_an_example_is_an_app_without_a_problem(example: dict[str, Any]) -> None:
    assert parse_data(example).problems == ()


def test_it_is_a_release_before_the_first_stable_one_as_its_api_is() -> None:
    assert METADATA["version"].startswith("0.")
    assert METADATA["annotations"]["artifacthub.io/prerelease"] == "true"
