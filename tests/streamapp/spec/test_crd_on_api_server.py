"""What the API server itself makes of the CRD: no operator runs here."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamapp.spec.schema.editor_schema import editor_schema
from tests.harness.api_server.api_server import REPOSITORY, ApiServer
from tests.harness.machine.processes import until

EXAMPLES = sorted(path.parent.name for path in (REPOSITORY / "examples").glob("*/app.yaml"))


def _example(name: str = "page-views") -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        (REPOSITORY / "examples" / name / "app.yaml").read_text(encoding="utf-8")
    )
    found["metadata"].pop("namespace", None)
    return found


def test_the_crd_is_established(api_server: ApiServer) -> None:
    crd = api_server.ask(
        "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/streamapps.streamapp.dev"
    )
    said = {condition["type"]: condition["status"] for condition in crd["status"]["conditions"]}
    assert said["Established"] == "True"
    assert said["NamesAccepted"] == "True"
    assert "NonStructuralSchema" not in said


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_accepted(api_server: ApiServer, namespace: str, name: str) -> None:
    done = api_server.kubectl("apply", "-n", namespace, "-f", "-", given=_example(name))
    assert done.returncode == 0, done.stderr


def test_two_kinds_in_one_operator_are_refused(api_server: ApiServer, namespace: str) -> None:
    app = _example()
    app["spec"]["operators"][0]["merge"] = {"from": ["views"]}
    done = api_server.kubectl("apply", "-n", namespace, "-f", "-", given=app)
    assert done.returncode != 0
    assert "spec.operators[0]" in done.stderr


def test_an_unknown_field_is_refused(api_server: ApiServer, namespace: str) -> None:
    app = _example()
    app["spec"]["procesors"] = 3
    done = api_server.kubectl("apply", "-n", namespace, "-f", "-", given=app)
    assert done.returncode != 0
    assert 'unknown field "spec.procesors"' in done.stderr


def test_a_name_too_long_for_its_pods_is_refused(api_server: ApiServer, namespace: str) -> None:
    app = _example()
    app["metadata"]["name"] = "a" * 41
    done = api_server.kubectl("apply", "-n", namespace, "-f", "-", given=app)
    assert done.returncode != 0
    assert "40" in done.stderr


def test_two_operators_of_one_name_are_refused(api_server: ApiServer, namespace: str) -> None:
    app = _example()
    app["spec"]["operators"].append(deepcopy(app["spec"]["operators"][0]))
    done = api_server.kubectl("create", "-n", namespace, "-f", "-", given=app)
    assert done.returncode != 0
    assert "Duplicate value" in done.stderr


@pytest.mark.parametrize(("field", "value"), [("applicationId", "other.app"), ("operatorClass", "other")])
def test_what_is_immutable_stays(api_server: ApiServer, namespace: str, field: str, value: str) -> None:
    app = _example()
    app["spec"][field] = "some.name" if field == "applicationId" else "some"
    assert api_server.kubectl("apply", "-n", namespace, "-f", "-", given=app).returncode == 0
    app["spec"][field] = value
    done = api_server.kubectl("apply", "-n", namespace, "-f", "-", given=app)
    assert done.returncode != 0
    assert f"{field} is immutable" in done.stderr
    del app["spec"][field]
    done = api_server.kubectl("replace", "-n", namespace, "-f", "-", given=app)
    assert done.returncode != 0
    assert f"{field} is immutable" in done.stderr


def test_kubectl_scale_sets_the_processors(api_server: ApiServer, namespace: str) -> None:
    assert api_server.kubectl("apply", "-n", namespace, "-f", "-", given=_example()).returncode == 0
    done = api_server.kubectl("scale", "-n", namespace, "sapp/page-views", "--replicas=3")
    assert done.returncode == 0, done.stderr
    found = json.loads(api_server.kubectl("get", "-n", namespace, "sapp/page-views", "-o", "json").stdout)
    assert found["spec"]["processors"] == 3


def test_kubectl_get_shows_what_matters(api_server: ApiServer, namespace: str) -> None:
    assert api_server.kubectl("apply", "-n", namespace, "-f", "-", given=_example()).returncode == 0
    shown = api_server.kubectl("get", "-n", namespace, "sapp").stdout.splitlines()[0].split()
    assert shown == ["NAME", "PHASE", "READY", "REASON", "TASKS", "PROCESSORS", "RESTARTS", "AGE"]
    wide = api_server.kubectl("get", "-n", namespace, "streaming", "-o", "wide").stdout.splitlines()[0]
    assert wide.split()[-5:] == ["SINCE", "UPDATED", "PLAN", "DRIVER", "NODE"]


def test_what_the_api_server_gives_back_is_read_again(api_server: ApiServer, namespace: str) -> None:
    """With the defaults and the metadata that the API server has filled in."""
    assert api_server.kubectl("apply", "-n", namespace, "-f", "-", given=_example()).returncode == 0
    given = api_server.kubectl("get", "-n", namespace, "sapp/page-views", "-o", "yaml").stdout
    done = subprocess.run(
        [Path(sys.executable).with_name("streamapp"), "check", "-"],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "path", ["spec", "spec.delivery", "spec.operators.joinTable", "spec.streams.eventTime.idleTimeout"]
)
def test_kubectl_explains_a_field_as_an_editor_does(api_server: ApiServer, path: str) -> None:
    schema = editor_schema()
    for name in path.split("."):
        schema = schema.get("items", schema)["properties"][name]
    # The server publishes what it explains a few seconds after it takes the definition.
    until(lambda: api_server.kubectl("explain", "streamapp").returncode == 0, limit=60)
    done = api_server.kubectl("explain", f"streamapp.{path}")
    assert done.returncode == 0, done.stderr
    description = done.stdout.partition("DESCRIPTION:")[2].partition("FIELDS:")[0]
    assert " ".join(description.split()) == schema["description"]
    for name, field in schema.get("properties", {}).items():
        assert f"  {name}\t" in done.stdout
        assert field["description"] in " ".join(done.stdout.split())
