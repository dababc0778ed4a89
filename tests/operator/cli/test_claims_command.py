"""`streamapp claims`: what is listed, and what may be deleted."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from streamapp_operator.cli.claims import claims
from streamapp_operator.reconciler.objects.object_names import executor_set
from tests.harness.operator.operator_sim import ON_REAL_SERVER, ON_SERVED_MEMORY, OperatorSim
from tests.harness.operator.small_apps import join

SPEC = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
GONE = "3c2f2a50-0000-4000-8000-000000000000"


def run(sim: OperatorSim, *words: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(claims, [*words, *sim.cluster_options()], input=answer)


def add_claim(sim: OperatorSim, name: str, app: str = "app") -> str:
    metadata = {"name": name, "labels": {"streamapp.dev/app": app}}
    path = f"/api/v1/namespaces/{sim.namespace}/persistentvolumeclaims"
    sim.server.ask("POST", path, {"metadata": metadata, "spec": SPEC})
    return name


def add_pod(sim: OperatorSim, claim: str) -> None:
    """One that has the claim mounted."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": volumes}
    path = f"/api/v1/namespaces/{sim.namespace}/pods"
    sim.server.ask("POST", path, {"metadata": {"name": "reader"}, "spec": spec})


@pytest.fixture
def names(sim: OperatorSim) -> dict[str, str]:
    """Claims of a living app, of an earlier one of its name, and of one that is gone."""
    sim.apply(join())
    uid = sim.app()["metadata"]["uid"]
    made = {
        "mounted": add_claim(sim, f"v-{executor_set(uid)}-0"),
        "kept": add_claim(sim, f"v-{executor_set(uid)}-1"),
        "earlier": add_claim(sim, f"v-{executor_set(GONE)}-0"),
        "gone": add_claim(sim, "v-other-0", "shop"),
        "log": add_claim(sim, "shop-state", "shop"),
    }
    add_pod(sim, made["mounted"])
    return made


def left(sim: OperatorSim) -> set[str]:
    """The claims that nobody has deleted: here nothing takes away the protection of those that were."""
    return {name for name, claim in listed(sim).items() if claim["use"] != "deleted"}


def listed(sim: OperatorSim, *words: str) -> dict[str, Any]:
    result = run(sim, "list", *words, "-o", "json")
    assert result.exit_code == 0, result.output
    return {claim["name"]: claim for claim in json.loads(result.output)["claims"]}


@ON_SERVED_MEMORY
def test_each_claim_says_who_needs_it(sim: OperatorSim, names: dict[str, str]) -> None:
    by_name = listed(sim)
    uses = {key: (by_name[name]["holds"], by_name[name]["use"]) for key, name in names.items()}
    assert uses == {
        "mounted": ("stores", "mounted"),
        "kept": ("stores", "kept"),
        "earlier": ("stores", "left over"),
        "gone": ("stores", "left over"),
        "log": ("log", "left over"),
    }
    assert set(listed(sim, "shop")) == {names["gone"], names["log"]}
    lines = run(sim, "list").output.splitlines()
    assert lines[0].split() == ["CLAIM", "APP", "HOLDS", "SIZE", "USE", "CREATED"]
    assert len(lines) == 6


@ON_SERVED_MEMORY
def test_what_is_left_over_goes_but_for_logs(sim: OperatorSim, names: dict[str, str]) -> None:
    refused = run(sim, "delete", "--left-over", answer="n\n")
    assert refused.exit_code == 1
    assert "Delete 2 of 5 claims?" in refused.output
    assert len(left(sim)) == 5
    done = run(sim, "delete", "--left-over", answer="y\n")
    assert done.output.endswith("deleted 2 of 2\n")
    assert left(sim) == {names["mounted"], names["kept"], names["log"]}
    assert run(sim, "delete", "--left-over").output == f"no claim of namespace {sim.namespace} is left over\n"


@ON_REAL_SERVER
def test_a_claim_goes_by_its_name_unless_a_pod_has_it(sim: OperatorSim, names: dict[str, str]) -> None:
    mounted = run(sim, "delete", names["log"], names["mounted"], "--yes")
    assert mounted.exit_code == 1
    assert f'claim "{names["mounted"]}" is mounted: suspend app "app" first' in mounted.output
    assert len(left(sim)) == 5, "all or nothing"
    assert run(sim, "delete", names["log"], names["kept"], "--yes").exit_code == 0
    assert left(sim) == {names["mounted"], names["earlier"], names["gone"]}


@ON_SERVED_MEMORY
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name claims, or say --left-over"),
        (["a", "--left-over"], "name claims, or say --left-over"),
        (["nobodys", "--yes"], 'has a claim "nobodys"'),
    ],
)
def test_what_cannot_be_meant_is_refused(sim: OperatorSim, words: list[str], message: str) -> None:
    result = run(sim, "delete", *words)
    assert result.exit_code != 0
    assert message in result.output
