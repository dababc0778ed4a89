"""The small app that `helm test` runs: any installation takes it, and it is planned as it stands."""

from typing import Any

import pytest
import yaml

from streamapp.author.app_rules import app_problems
from streamapp.author.not_supported import not_supported
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.planning.acceptance_rules import acceptance_problems
from tests.harness.machine.helm import Helm, of_kind, value_set, value_sets


def manifest(helm: Helm, *said: str) -> dict[str, Any]:
    (config,) = [
        one["data"]["app.yaml"]
        for name, one in of_kind(helm.objects(*said), "ConfigMap").items()
        if name.endswith("-test-app")
    ]
    found: dict[str, Any] = yaml.safe_load(config)
    return found


def parsed(helm: Helm, *said: str) -> StreamApp:
    read = parse_data(manifest(helm, *said))
    assert not read.problems, read.problems
    return read.apps[0]


@pytest.mark.parametrize("name", value_sets())
def test_an_installation_that_allows_nothing_takes_it(helm: Helm, name: str) -> None:
    app = parsed(helm, value_set(name))
    assert acceptance_problems(app, Installation(image="streamapp-runtime:1")) == []
    assert [*not_supported(app), *app_problems(app)] == []


def test_it_runs_where_the_operator_looks_and_names_its_class(helm: Helm) -> None:
    app = manifest(helm, value_set("some-namespaces"))
    assert app["metadata"]["namespace"] == "shop"
    assert app["spec"]["operatorClass"] == "blue"
    assert manifest(helm, value_set("measured"))["metadata"]["namespace"] == "trials"
    assert "operatorClass" not in manifest(helm)["spec"]


def test_it_goes_through_a_repartition_and_comes_to_an_end(helm: Helm) -> None:
    app = parsed(helm)
    assert app.spec.mode == "batch"
    assert any(operator.partition_by for operator in app.spec.operators)


def test_its_rows_are_written_by_the_image_that_runs_it(helm: Helm) -> None:
    (rows,) = manifest(helm, value_set("measured"))["spec"]["driver"]["template"]["spec"]["initContainers"]
    assert rows["image"] == "images.example/streamapp-runtime:1.2"
