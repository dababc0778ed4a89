"""An app that is deleted without its objects and applied again: nothing of what runs on is taken away."""

import pytest

from streamapp.protocol import message_names
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted
from streamapp_operator.cli.diagnosis.situation_facts import SituationFacts
from streamapp_operator.cli.diagnosis.situations import findings_of
from streamapp_operator.reconciler.config_maps.accepted_generation import ADOPTED_ANNOTATION
from streamapp_operator.reconciler.objects.object_metadata import owner_reference
from tests.harness.operator.operator_sim import ON_BOTH_SERVERS, OperatorSim
from tests.harness.operator.small_apps import join

LEFT = [
    *("Service app-driver", "ServiceAccount app-driver", "ServiceAccount app-executor"),
    *("Role app-driver", "RoleBinding app-driver", "ConfigMap app-accepted-1", "ConfigMap app-job-model"),
    *("ConfigMap app-report", "Pod app-driver-1"),
]


KINDS = {
    "api/v1": ("pods", "services", "serviceaccounts", "configmaps"),
    "apis/rbac.authorization.k8s.io/v1": ("roles", "rolebindings"),
    "apis/apps/v1": ("controllerrevisions",),
}


@pytest.fixture
def left_behind(sim: OperatorSim) -> OperatorSim:
    """An app that runs, and is to be deleted with `--cascade=orphan`."""
    sim.bring_up(join())
    for number in (1, 2):
        sim.executor(number, driver="app-driver-1")
    sim.settle()
    return sim


def _orphan(sim: OperatorSim) -> str:
    """Delete the app as `--cascade=orphan` does; its uid."""
    app = sim.app()
    uid = str(app["metadata"]["uid"])
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app"
    sim.server.ask("DELETE", f"{path}?propagationPolicy=Background")
    for group, plural in [(group, plural) for group, plurals in KINDS.items() for plural in plurals]:
        for made in sim.objects(plural, group):  # what the garbage collector does for an orphan
            owners = made["metadata"].get("ownerReferences") or []
            kept = [owner for owner in owners if owner["uid"] != uid]
            if kept != owners:
                place = f"/{group}/namespaces/{sim.namespace}/{plural}/{made['metadata']['name']}"
                body = {"metadata": {"ownerReferences": kept}}
                sim.server.ask("PATCH", place, body, "application/merge-patch+json")
    return uid


@pytest.fixture
def orphaned(left_behind: OperatorSim) -> OperatorSim:
    """That app, applied again as it was."""
    _orphan(left_behind)
    left_behind.apply(join())
    left_behind.settle()
    return left_behind


def _pods(sim: OperatorSim) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["resourceVersion"] for pod in sim.objects("pods")}


def test_nothing_of_the_driver_that_runs_is_taken_away(orphaned: OperatorSim) -> None:
    assert sorted(_pods(orphaned)) == ["app-1-exec-1", "app-1-exec-2", "app-driver-1"]
    before, config_maps = _pods(orphaned), orphaned.names("configmaps")
    orphaned.pass_time(600)
    orphaned.settle()
    assert _pods(orphaned) == before
    assert orphaned.names("configmaps") == config_maps


def test_all_that_is_in_the_way_is_named_at_once_with_one_command(orphaned: OperatorSim) -> None:
    assert orphaned.says("Launched") == ("False", "NameTaken")
    assert orphaned.says("Degraded") == ("True", "NameTaken")
    assert orphaned.status()["reason"] == "NameTaken"
    message = orphaned.condition("Launched")["message"]
    for name in LEFT:
        assert name in message
    command = message.partition("kubectl ")[2].split()
    assert command[0] == "delete"
    assert command[2:] == ["-n", "shop", "-l", "streamapp.dev/app=app"]
    for plural in command[1].split(","):
        group = {
            "roles": "apis/rbac.authorization.k8s.io/v1",
            "rolebindings": "apis/rbac.authorization.k8s.io/v1",
        }
        group |= {"statefulsets": "apis/apps/v1", "controllerrevisions": "apis/apps/v1"}
        group |= {"networkpolicies": "apis/networking.k8s.io/v1"}
        for name in orphaned.names(plural, group.get(plural, "api/v1")):
            path = f"/{group.get(plural, 'api/v1')}/namespaces/shop/{plural}/{name}?gracePeriodSeconds=0"
            orphaned.server.ask("DELETE", path)
    orphaned.settle()
    orphaned.begin()
    orphaned.report()
    orphaned.settle()
    assert orphaned.says("Ready") == ("True", "Running")
    assert orphaned.says("Degraded") == ("False", "Healthy")


def _identities(sim: OperatorSim) -> dict[str, str]:
    """The uids of all that goes on; accepted generations come and go with edits."""
    return {
        f"{plural}/{made['metadata']['name']}": made["metadata"]["uid"]
        for group, plurals in KINDS.items()
        for plural in plurals
        for made in sim.objects(plural, group)
        if "-accepted-" not in made["metadata"]["name"]
    }


def _published(sim: OperatorSim) -> AcceptedApp:
    """The generation that the running driver is told to go by."""
    return decode_accepted(sim.config_map("app-job-model")["data"][message_names.ACCEPTED])


def _owners(sim: OperatorSim) -> dict[str, set[str]]:
    return {
        f"{plural}/{made['metadata']['name']}": {
            owner["uid"] for owner in made["metadata"].get("ownerReferences") or ()
        }
        for group, plurals in KINDS.items()
        for plural in plurals
        for made in sim.objects(plural, group)
        if (made["metadata"].get("labels") or {}).get("streamapp.dev/app") == "app"
    }


@ON_BOTH_SERVERS
def test_an_app_that_takes_over_goes_on_with_the_driver_that_runs(left_behind: OperatorSim) -> None:
    sim = left_behind
    sim.edit(monitor={"interval": "2m"})
    sim.settle()
    sim.report()
    sim.settle()
    assert sim.status()["acceptedGeneration"] == 2
    before, model, selector = _identities(sim), sim.model(), sim.status()["selector"]
    left_uid = _orphan(sim)
    sim.apply(join(monitor={"interval": "2m"}, takeOver=True))
    sim.settle()
    uid = sim.app()["metadata"]["uid"]
    assert uid != left_uid
    own = {name: owners for name, owners in _owners(sim).items() if "exec" not in name or "account" in name}
    assert own
    assert all(owners == {uid} for owners in own.values()), own
    assert before.items() <= _identities(sim).items()
    assert sim.model() == model
    sim.report()  # the driver takes the edit up, since it is of the app that it was started for
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Degraded") == ("False", "Healthy")
    status = sim.status()
    assert (status["observedGeneration"], status["acceptedGeneration"]) == (1, 1)
    assert {one["observedGeneration"] for one in status["conditions"]} == {1}
    assert status["driver"]["incarnation"] == 1
    assert status["selector"] == selector
    accepted = _published(sim)
    assert (accepted.generation, accepted.owner) == (3, left_uid)
    assert [pod["metadata"]["name"] for pod in sim.objects("pods")] == [
        *("app-1-exec-1", "app-1-exec-2", "app-driver-1"),
    ]


def test_an_edit_of_an_adopted_app_reaches_its_driver(orphaned: OperatorSim) -> None:
    orphaned.edit(takeOver=True)
    orphaned.settle()
    orphaned.report()
    orphaned.settle()
    assert orphaned.says("Ready") == ("True", "Running")
    orphaned.edit(monitor={"interval": "2m"})
    orphaned.settle()
    assert _published(orphaned).generation == 4
    orphaned.report()
    orphaned.settle()
    assert orphaned.says("Ready") == ("True", "Running")
    assert orphaned.status()["acceptedGeneration"] == 3
    orphaned.fail_driver(30)
    orphaned.settle()
    assert orphaned.names("pods")[-1] == "app-driver-2"


def test_nothing_is_adopted_while_somebody_else_owns_a_part_of_it(left_behind: OperatorSim) -> None:
    sim = left_behind
    _orphan(sim)
    stranger = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app", "uid": "7d1f"}
    place = f"/api/v1/namespaces/{sim.namespace}/configmaps/app-report"
    body = {"metadata": {"ownerReferences": [stranger]}}
    sim.server.ask("PATCH", place, body, "application/merge-patch+json")
    before = _owners(sim)
    sim.apply(join(takeOver=True))
    sim.settle()
    assert _owners(sim) == before
    assert sim.says("Launched") == ("False", "NameTaken")
    assert "ConfigMap app-report has another owner" in sim.condition("Launched")["message"]


def test_an_operator_that_ends_while_it_adopts_goes_on_with_it(left_behind: OperatorSim) -> None:
    sim = left_behind
    before = _identities(sim)
    _orphan(sim)
    sim.apply(join(takeOver=True))
    part = {"metadata": {"ownerReferences": [owner_reference(sim.app())]}}
    part["metadata"] |= {"annotations": {ADOPTED_ANNOTATION: "1"}}
    place = f"/api/v1/namespaces/{sim.namespace}/configmaps/app-accepted-1"
    sim.server.ask("PATCH", place, part, "application/merge-patch+json")
    sim.settle()
    sim.report()
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")
    assert before.items() <= _identities(sim).items()


def test_why_names_them_too(orphaned: OperatorSim) -> None:
    facts = SituationFacts(orphaned.app(), None, (), None, (), (), None)
    (finding,) = findings_of(facts)
    assert finding.situation == "names-taken"
    assert "Service app-driver" in finding.detail
    assert "kubectl delete pods," in finding.detail
