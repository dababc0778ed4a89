"""`streamapp history` and `rollback`, with the operator's own revisions."""

import json
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner, Result

from streamapp.cli.option_groups import ClusterAccess
from streamapp_operator.cli.cluster_access.cluster_command import run_with_cluster
from streamapp_operator.cli.history import history
from streamapp_operator.cli.rollback import rollback
from streamapp_operator.controller.client.api_errors import WriteConflict
from tests.harness.operator.operator_sim import ON_REAL_SERVER, ON_SERVED_MEMORY, OperatorSim
from tests.harness.operator.small_apps import join

APPS = "apis/apps/v1"
MERGE = "application/merge-patch+json"


def arguments(sim: OperatorSim, *args: str) -> list[str]:
    return [*args, *sim.cluster_options()]


def history_of(sim: OperatorSim, *args: str) -> Result:
    return CliRunner().invoke(history, arguments(sim, "app", *args))


def roll_back(sim: OperatorSim, *args: str) -> Result:
    return CliRunner().invoke(rollback, arguments(sim, "app", *args))


def run_edit(sim: OperatorSim, **spec: Any) -> None:
    """Edit the app, and have its driver run the edit live."""
    sim.edit(**spec)
    sim.settle()
    sim.report()
    sim.settle()


def replace_spec(sim: OperatorSim, app: dict[str, Any], spec: dict[str, Any]) -> Any:
    """Replace the spec of an app as it was read before, as a user may."""
    return run_with_cluster(
        ClusterAccess(kubeconfig=sim.kubeconfig()),
        lambda cluster: cluster.replace_spec(app, spec, "test", dry_run=False),
        writes=True,
    )


def app_path(sim: OperatorSim) -> str:
    return f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app"


@pytest.fixture
def edited(sim: OperatorSim) -> OperatorSim:
    """An app that has run with 400, then with 500 rows in a batch."""
    sim.bring_up(join(batch={"rows": 400}))
    run_edit(sim, batch={"rows": 500}, partitionSettle="1m")
    return sim


@ON_SERVED_MEMORY
def test_the_history_names_each_spec_and_what_it_changed(edited: OperatorSim) -> None:
    result = history_of(edited)
    assert result.exit_code == 0
    head, first, second = (line.split(maxsplit=3) for line in result.output.splitlines())
    assert head == ["REVISION", "GENERATION", "WHEN", "CHANGED"]
    assert (first[0], first[1], first[3]) == ("1", "1", "-")
    assert result.output.splitlines()[2].startswith("2 *")
    assert result.output.endswith("batch.rows, partitionSettle\n")
    assert second[:3] == ["2", "*", "2"]


@ON_SERVED_MEMORY
def test_the_history_as_json_has_the_same(edited: OperatorSim) -> None:
    first, second = json.loads(history_of(edited, "-o", "json").output)["revisions"]
    assert (first["revision"], first["generation"], first["changed"], first["isPresent"]) == (1, 1, [], False)
    assert second["changed"] == ["batch.rows", "partitionSettle"]
    assert second["isPresent"] is True
    assert second["recordedAt"].endswith("Z")


@ON_SERVED_MEMORY
def test_one_revision_is_its_spec(edited: OperatorSim) -> None:
    result = history_of(edited, "--revision", "1")
    assert result.output.startswith("spec:\n")
    assert "  batch:\n    rows: 400\n" in result.output
    assert "processors" not in result.output
    document = json.loads(history_of(edited, "--revision", "1", "-o", "json").output)
    assert document["spec"]["batch"] == {"rows": 400}


@ON_SERVED_MEMORY
def test_two_revisions_are_compared(edited: OperatorSim) -> None:
    lines = history_of(edited, "--revision", "2", "--against", "1").output.splitlines()
    assert lines[:2] == ["--- revision 1", "+++ revision 2"]
    assert {"-    rows: 400", "+    rows: 500", "+  partitionSettle: 1m"} <= set(lines)
    document = json.loads(history_of(edited, "--revision", "2", "--against", "1", "-o", "json").output)
    assert document == {"revision": 2, "against": 1, "changed": ["batch.rows", "partitionSettle"]}


@ON_SERVED_MEMORY
def test_a_revision_that_is_not_there_is_answered_with_those_that_are(edited: OperatorSim) -> None:
    for result in (history_of(edited, "--revision", "7"), roll_back(edited, "--to-revision", "7")):
        assert result.exit_code == 1
        assert 'app "app" has no revision 7; it has 1, 2' in result.output


@ON_SERVED_MEMORY
def test_against_alone_is_a_wrong_use(edited: OperatorSim) -> None:
    assert history_of(edited, "--against", "1").exit_code == 2


@ON_SERVED_MEMORY
def test_an_app_that_has_not_run_has_no_history(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    result = history_of(sim)
    assert result.exit_code == 0
    assert "generation 1 of the resource is not among them: no driver has run it" in result.output
    result = roll_back(sim)
    assert result.exit_code == 1
    assert 'app "app" has no spec to go back to' in result.output


@ON_SERVED_MEMORY
def test_an_app_that_is_not_there_has_neither(sim: OperatorSim) -> None:
    for result in (history_of(sim), roll_back(sim)):
        assert result.exit_code == 1
        assert f'there is no StreamApp "app" in namespace {sim.namespace}' in result.output


@ON_REAL_SERVER
def test_a_rollback_writes_the_spec_before_and_leaves_what_an_app_is_operated_by(edited: OperatorSim) -> None:
    run_edit(edited, processors=3)
    result = roll_back(edited)
    assert result.exit_code == 0, result.output
    assert {"-    rows: 500", "+    rows: 400"} <= set(result.output.splitlines())
    assert result.output.endswith("generation 4 has the spec of revision 1\n")
    spec = edited.app()["spec"]
    assert (spec["batch"]["rows"], spec["partitionSettle"], spec["processors"]) == (400, "5m", 3)
    edited.settle()
    edited.report()
    edited.settle()
    assert [
        entry["revision"] for entry in json.loads(history_of(edited, "-o", "json").output)["revisions"]
    ] == [2, 3]


@ON_SERVED_MEMORY
def test_a_rollback_after_a_refused_edit_goes_to_what_runs(edited: OperatorSim) -> None:
    edited.edit(serviceAccountName="admin")
    edited.settle()
    assert edited.says("Accepted")[0] == "False"
    assert "is not among them" in history_of(edited).output
    result = roll_back(edited)
    assert result.output.endswith("generation 4 has the spec of revision 2\n"), result.output
    edited.settle()
    assert edited.says("Accepted")[0] == "True"


@ON_SERVED_MEMORY
def test_a_dry_run_shows_the_same_and_writes_nothing(edited: OperatorSim) -> None:
    before = edited.app()
    result = roll_back(edited, "--dry-run")
    assert result.exit_code == 0
    assert "+    rows: 400" in result.output
    assert result.output.endswith("nothing was written\n")
    assert edited.app() == before


@ON_SERVED_MEMORY
def test_the_present_spec_is_no_place_to_go_back_to(edited: OperatorSim) -> None:
    result = roll_back(edited, "--to-revision", "2")
    assert result.exit_code == 1
    assert "the resource has the spec of revision 2 now" in result.output
    assert "raise spec.restartNonce" in result.output


@ON_SERVED_MEMORY
def test_a_rollback_that_existing_state_forbids_is_refused_before_it_is_written(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.edit(resetNonce=1, state={"persistentVolumeClaim": {"size": "1Gi"}})
    sim.settle()
    sim.remove(sim.end(code=0))
    sim.settle()
    sim.begin()
    sim.report()
    sim.settle()
    before = sim.app()
    result = roll_back(sim, "--to-revision", "1")
    assert result.exit_code == 1
    assert "spec.state.persistentVolumeClaim: cannot change while there is state" in result.output
    assert "raise resetNonce" in result.output
    assert sim.app() == before


@ON_SERVED_MEMORY
def test_a_rollback_whose_plan_is_refused_shows_the_plan_and_writes_nothing(sim: OperatorSim) -> None:
    sim.bring_up(join())
    operators = [{"name": "out", "sendTo": {"from": "views", "stream": "enriched"}}]
    sim.edit(resetNonce=1, tables=[], operators=operators)
    sim.settle()
    sim.remove(sim.end(code=0))
    sim.settle()
    sim.begin()
    sim.report(counts={"views": 8, "users": 6})
    sim.settle()
    before = sim.app()
    result = roll_back(sim, "--to-revision", "1")
    assert result.exit_code == 1
    assert "JoinPartitionMismatch  joined" in result.output
    assert "repartition views with partitionBy before joined" in result.output
    assert "nothing was written: the operator would refuse this spec" in result.output
    assert sim.app() == before


@ON_SERVED_MEMORY
@pytest.mark.parametrize(
    ("metadata", "manager"),
    [
        (
            {"annotations": {"argocd.argoproj.io/tracking-id": "shop:streamapp.dev/StreamApp:shop/app"}},
            "Argo CD",
        ),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "shop"}}, "Flux"),
        ({"labels": {"helm.toolkit.fluxcd.io/name": "shop"}}, "Flux"),
    ],
)
def test_a_resource_from_a_repository_is_rolled_back_with_a_warning(
    edited: OperatorSim, metadata: dict[str, Any], manager: str
) -> None:
    edited.server.ask("PATCH", app_path(edited), {"metadata": metadata}, MERGE)
    result = roll_back(edited)
    assert result.exit_code == 0
    assert f"warning: {manager} applies this resource from a repository and will undo" in result.output


@ON_REAL_SERVER
def test_a_resource_that_flux_applies_without_labels_is_known_by_its_field_manager(
    edited: OperatorSim,
) -> None:
    body = {"metadata": {"annotations": {"team": "web"}}}
    edited.server.ask("PATCH", f"{app_path(edited)}?fieldManager=kustomize-controller", body, MERGE)
    assert "warning: Flux applies this resource" in roll_back(edited, "--dry-run").output


@ON_SERVED_MEMORY
def test_a_paused_app_is_rolled_back_with_a_warning(edited: OperatorSim) -> None:
    body = {"metadata": {"annotations": {"streamapp.dev/pause-reconciliation": "true"}}}
    edited.server.ask("PATCH", app_path(edited), body, MERGE)
    assert "warning: reconciliation of the app is paused" in roll_back(edited).output


@ON_REAL_SERVER
def test_a_change_of_the_status_is_no_edit_and_a_change_of_the_spec_is(edited: OperatorSim) -> None:
    before = edited.app()
    status = {"status": {**before["status"], "restarts": 7}}
    edited.server.ask("PATCH", f"{app_path(edited)}/status", status, MERGE)
    spec = {**before["spec"], "restartNonce": 7}
    written = replace_spec(edited, before, spec)
    assert not isinstance(written, WriteConflict)
    assert edited.app()["spec"]["restartNonce"] == 7
    assert replace_spec(edited, before, before["spec"]) is WriteConflict.CONFLICT
    with pytest.raises(ClickException, match=r"spec\.processors"):
        replace_spec(edited, edited.app(), {**spec, "processors": -1})


@ON_REAL_SERVER
@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1:1", "no broker can be reached; the last try: 127.0.0.1:1"),
        ("kafka.invalid:9092", "no name of kafka.invalid:9092 can be resolved here"),
    ],
)
def test_brokers_that_cannot_be_asked_leave_the_plan_to_the_operator(
    sim: OperatorSim, address: str, words: str
) -> None:
    systems = [{"name": "main", "kafka": {"bootstrapServers": address}}]
    sim.bring_up(join(systems=systems))
    run_edit(sim, batch={"rows": 500})
    sim.end(code=3)
    result = roll_back(sim)
    assert result.exit_code == 0, result.output
    assert "warning: only the operator can plan it: " in result.output
    assert words in result.output
    assert sim.app()["spec"]["batch"]["rows"] == 1_000_000


@ON_SERVED_MEMORY
def test_a_revision_that_cannot_be_read_is_named(edited: OperatorSim) -> None:
    path = f"/{APPS}/namespaces/{edited.namespace}/controllerrevisions/app-revision-1"
    revision = edited.server.ask("GET", path)
    edited.server.ask("DELETE", path)
    metadata = {name: revision["metadata"][name] for name in ("name", "labels", "ownerReferences")}
    data = {**revision["data"], "apiVersion": "streamapp.dev/v9"}
    edited.server.ask("POST", path.rpartition("/")[0], {**revision, "metadata": metadata, "data": data})
    assert history_of(edited).exit_code == 0
    for result in (history_of(edited, "--revision", "1"), roll_back(edited)):
        assert result.exit_code == 1
        assert "the spec of revision 1 cannot be read" in result.output
