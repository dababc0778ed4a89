"""Any sequence of edits, ends of pods, reports, growths and kills, held against what must always be so."""

import json
from contextlib import suppress
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from streamapp.metadata.locality_manager import LocalityManager
from streamapp.placement.placer import place_tasks
from streamapp.placement.task_placement import TaskPlacement
from streamapp.protocol.driver_report import DriverState, ExecutorBinding
from streamapp.protocol.message_names import INCARNATION
from streamapp_operator.reconciler.config_maps.config_map_store import ConfigMapStore
from streamapp_operator.reconciler.config_maps.locality_draft import LocalityDraft
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts, SystemUnavailable
from streamapp_operator.reconciler.pods.driver_pod import has_early_executors, is_standby
from streamapp_operator.reconciler.status.app_condition import ConditionType
from streamapp_operator.reconciler.status.phase import Phase
from tests.harness.api_server.memory_api import MemoryApi, Object
from tests.harness.api_server.mortal_cluster import KilledError, Mortal
from tests.harness.operator.operator_sim import START, OperatorSim
from tests.harness.operator.small_apps import join

POD_PATH = "/api/v1/namespaces/shop/pods"
KILLS = st.integers(1, 12)
LIVE_EDITS = st.sampled_from(
    [{"processors": 1}, {"processors": 3}, {"batch": {"rows": 7}}, {"restartPolicy": {"backoff": "1s"}}]
)

ALLOWED: dict[Phase, dict[str, set[str]]] = {
    Phase.PENDING: {"Ready": {"False"}, "Launched": {"False"}, "Suspended": {"False"}},
    Phase.REJECTED: {"Accepted": {"False"}, "Ready": {"False"}, "Launched": {"False"}, "Stalled": {"True"}},
    Phase.LAUNCHING: {"Ready": {"False", "Unknown"}, "Launched": {"True"}, "Progressing": {"True"}},
    Phase.RUNNING: {"Launched": {"True"}, "Suspended": {"False"}},
    Phase.RESTARTING: {"Progressing": {"True"}, "Launched": {"False"}, "Suspended": {"False"}},
    Phase.BACKING_OFF: {"Ready": {"False"}, "Launched": {"False"}, "Suspended": {"False"}},
    Phase.SUSPENDING: {"Suspended": {"False"}, "Progressing": {"True"}},
    Phase.SUSPENDED: {"Ready": {"False"}, "Launched": {"False"}, "Suspended": {"True"}},
    Phase.COMPLETED: {"Ready": {"False"}, "Launched": {"False"}, "Progressing": {"False"}},
    Phase.FAILED: {"Ready": {"False"}, "Launched": {"False"}, "Stalled": {"True"}, "Progressing": {"False"}},
}
"""The statuses of conditions that may stand beside a phase. Tools read the conditions, people the phase."""


class Lives(RuleBasedStateMachine):
    """One app. The model beside it is small: what was asked for last, and what may not be forgotten."""

    @initialize()
    def begin(self) -> None:
        self.api = MemoryApi(lambda: self.sim.now if hasattr(self, "sim") else START)
        self.sim = OperatorSim(self.api, "shop")
        self.api.on_create, self.api.on_change = self._made, self._changed
        self.views, self.nonce = 8, 0
        self.incarnations: list[str] = []
        self.published = 0  # the incarnation for which a model was published last
        self.bad = False
        self.known: dict[str, str] = {}  # task -> location, as it was last reported and kept
        self.run = ""
        self._counts()
        self.sim.apply(join())
        self._settle()

    def _counts(self) -> None:
        self.sim.table.answer = KnownCounts({"views": self.views, "users": 8, "enriched": 8})

    # What must be so at the very moment that a driver is made.

    def _made(self, path: str, made: Object) -> None:
        if "-driver-" not in path or "/pods/" not in path:
            return
        assert path not in self.incarnations, "two drivers of one incarnation"
        if is_standby(made):
            assert self.sim.successors() == [], f"{path} was made beside another successor"
            return  # its number is needed once it takes over; whoever clears the status has it forgotten
        self.incarnations.append(path)
        left = self._working_pods()
        assert left == [], f"{path} was made while {left} may still work"
        announced = self.sim.status()["driver"]["incarnation"]
        assert path.endswith(f"-{announced}"), "a driver that no status had announced"

    def _changed(self, new: Object) -> None:
        """A standby driver takes over as soon as a model is published for it."""
        annotations = new["metadata"].get("annotations") or {}
        if not new["metadata"]["name"].endswith("-job-model"):
            return
        incarnation, before = int(annotations[INCARNATION]), self.published
        self.published = incarnation
        successor = f"app-driver-{incarnation}"
        if incarnation > before and successor in self._working_pods():
            its_executors = f"app-{incarnation}-exec-"
            left = [name for name in self._working_pods() if not name.startswith(its_executors)]
            assert left == [successor], "another pod may still work"
            self.incarnations.append(f"{POD_PATH}/{successor}")

    def _working_pods(self) -> list[str]:
        return [
            one["metadata"]["name"]
            for one in self.sim.objects("pods")
            if one["status"].get("phase") not in {"Succeeded", "Failed"}
        ]

    # What happens.

    @rule(edit=LIVE_EDITS)
    def edit_live(self, edit: dict[str, Any]) -> None:
        self.sim.edit(**edit)

    @rule()
    def ask_for_a_restart(self) -> None:
        self.nonce += 1
        self.sim.edit(restartNonce=self.nonce)

    @rule(suspend=st.booleans())
    def suspend_or_go_on(self, suspend: bool) -> None:
        self.sim.edit(suspend=suspend)

    @rule()
    def edit_badly_or_put_it_right(self) -> None:
        self.bad = not self.bad
        self.sim.edit(serviceAccountName="admin" if self.bad else None)

    @precondition(lambda self: self.sim.drivers())
    @rule()
    def a_driver_runs_and_reports(self) -> None:
        pod = self.sim.driver()
        if pod["metadata"].get("deletionTimestamp"):
            return
        self.sim.begin()
        wanted = self.sim.wanted()
        assert wanted.model is not None
        seats = {
            name: ExecutorBinding(f"node-{index % 2}", "")
            for index, name in enumerate(wanted.model.processors)
        }
        self.sim.report(DriverState.RUNNING, counts={"views": self.views, "users": 8}, binding=seats)

    @precondition(lambda self: self.sim.drivers())
    @rule(outcome=st.sampled_from(["retry", "done", "config"]))
    def a_driver_ends(self, outcome: str) -> None:
        self.sim.begin()
        code = {"done": 0, "config": 1, "retry": 3}[outcome]
        self.sim.end(code=code, message=json.dumps({"outcome": outcome, "message": "so it is"}))

    @precondition(lambda self: self.sim.drivers())
    @rule(ended=st.booleans())
    def a_driver_hangs(self, ended: bool) -> None:
        self.sim.begin()
        self.sim.pass_time(60)
        self.sim.silence()
        if ended:
            self.sim.pass_time(60)
            self.sim.end(code=137)

    @rule(number=st.integers(1, 3))
    def an_executor_comes(self, number: int) -> None:
        living = [pod for pod in self.sim.drivers() if pod["spec"].get("nodeName")]
        if living and f"app-exec-{number}" not in self.sim.names("pods"):
            self.sim.executor(number)

    @precondition(lambda self: self.sim.successors())
    @rule(number=st.integers(1, 2))
    def an_early_executor_comes(self, number: int) -> None:
        pod = self.sim.successors()[-1]
        name, is_running = pod["metadata"]["name"], pod["status"].get("phase") == "Running"
        executor = f"app-{name.rpartition('-')[2]}-exec-{number}"
        if has_early_executors(pod) and is_running and executor not in self.sim.names("pods"):
            self.sim.executor(number, driver=name)

    @rule()
    def kubelets_end_what_was_asked_to_go(self) -> None:
        for pod in self.sim.objects("pods"):
            if pod["metadata"].get("deletionTimestamp"):
                self.sim.remove(pod["metadata"]["name"])

    @precondition(lambda self: self.sim.names("pods"))
    @rule(data=st.data())
    def a_pod_vanishes(self, data: st.DataObject) -> None:
        self.sim.remove(data.draw(st.sampled_from(self.sim.names("pods"))))

    @rule(views=st.sampled_from([6, 12, 16, 32]))
    def a_topic_changes(self, views: int) -> None:
        self.views = views
        self._counts()

    @rule()
    def brokers_go_away(self) -> None:
        self.sim.table.answer = SystemUnavailable("main", "no broker answers", 3.0)

    @rule()
    def brokers_come_back(self) -> None:
        self._counts()

    @rule(seconds=st.sampled_from([1, 6, 120, 700]))
    def time_passes(self, seconds: int) -> None:
        self.sim.pass_time(seconds)

    @rule()
    def the_status_is_cleared(self) -> None:
        path = "/apis/streamapp.dev/v1alpha1/namespaces/shop/streamapps/app/status"
        self.api.ask("PATCH", path, {"status": None}, "application/merge-patch+json")

    # What the operator makes of it.

    @rule()
    def it_settles(self) -> None:
        self._settle()

    @rule()
    def it_settles_while_a_successor_is_slow(self) -> None:
        self._settle(warms_up=False)

    @precondition(lambda self: self.sim.successors())
    @rule()
    def a_successor_fails(self) -> None:
        name = self.sim.successors()[0]["metadata"]["name"]
        self.sim.begin(name)
        self.sim.end(name, code=2)

    @rule(writes=KILLS)
    def it_is_killed_and_another_takes_over(self, writes: int) -> None:
        self.sim.mortal = Mortal(self.sim.cluster, writes)
        with suppress(KilledError):
            self._settle()
        self.sim.restart()
        self._settle()

    def _settle(self, *, warms_up: bool = True) -> None:
        self.sim.settle(warms_up=warms_up)
        self._explained()
        self._remembered()
        self._placed()

    def _explained(self) -> None:
        """The status always tells what is, and why."""
        status = self.sim.status()
        said = {one["type"]: one for one in status["conditions"]}
        assert len(said) == len(ConditionType)
        assert all(one["reason"] and one["message"] for one in said.values())
        assert status["observedGeneration"] == self.sim.app()["metadata"]["generation"]
        drivers = self.sim.drivers()
        if said["Ready"]["status"] == "True":
            assert len(drivers) == 1
            assert status["phase"] in {Phase.RUNNING, Phase.RESTARTING}
        if said["Ready"]["status"] == "Unknown":
            assert len(drivers) == 1
            assert said["Ready"]["reason"] == "NoProgress"
            assert said["Degraded"]["status"] == "True"
        self._agree(said)
        if said["Accepted"]["status"] == "False":
            assert said["Stalled"]["status"] == "True"
        if said["Accepted"]["status"] == "True":
            assert "NotAccepted" not in {one["reason"] for one in said.values()}
        for aspect, allowed in ALLOWED.get(Phase(status["phase"]), {}).items():
            assert said[aspect]["status"] in allowed, (status["phase"], said[aspect])
        if status["phase"] in {Phase.COMPLETED, Phase.FAILED, Phase.SUSPENDED, Phase.REJECTED}:
            assert drivers == []
        if not drivers:
            assert "keeps running" not in said["Stalled"]["message"]

    def _agree(self, said: dict[str, Any]) -> None:
        """Degraded is of what runs, Stalled of the newest generation; neither denies what the other says."""
        degraded, stalled = said["Degraded"], said["Stalled"]
        if stalled["status"] == "True":
            assert degraded["message"] != "nothing is wrong"
        if degraded["status"] == "True":
            assert stalled["message"] != "no action is needed"
        if stalled["status"] == "True" and said["Accepted"]["status"] != "False":
            assert degraded["status"] == "True", "a user has to act, and nothing is wrong"

    def _remembered(self) -> None:
        """A locality that was kept stays until its run is given up."""
        if "app-locality" not in self.sim.names("configmaps") or "jobModel" not in self.sim.status():
            return
        run = self.sim.wanted().model
        assert run is not None
        store = ConfigMapStore(LocalityDraft(self.sim.config_map("app-locality")))
        kept = {k: v for k, v in LocalityManager(store, run.run_id).read_task_locality().items() if v}
        if run.run_id == self.run:
            assert self.known.keys() <= kept.keys(), "a task's locality was lost"
        self.run, self.known = run.run_id, kept

    def _placed(self) -> None:
        """Loads are balanced, and a model that was made for a start keeps as many tasks as any could."""
        if "app-job-model" not in self.sim.names("configmaps"):
            return
        model = self.sim.model()
        loads = [len(tasks) for tasks in model.assignment().values()]
        assert max(loads) - min(loads) <= 1
        drivers = self.sim.drivers()
        if not drivers or drivers[0]["spec"].get("nodeName"):
            return  # the driver has its own places by now
        locality = self.sim.objects("configmaps")
        found = next((one for one in locality if one["metadata"]["name"] == "app-locality"), None)
        manager = LocalityManager(ConfigMapStore(LocalityDraft(found)), model.run_id)
        tasks_at, known = manager.read_task_locality(), manager.read_processor_locality()
        at = {name: known.get(name) for name in model.processors}
        best = place_tasks([task.name for task in model.tasks], tasks_at, at)
        assert isinstance(best, TaskPlacement)
        here = sum(
            bool(tasks_at.get(task.name)) and tasks_at.get(task.name) == at[model.owner(task.name)]
            for task in model.tasks
        )
        assert here == best.most_on_location

    @invariant()
    def there_is_never_more_than_one_driver(self) -> None:
        if hasattr(self, "sim"):
            assert len(self.sim.drivers()) <= 1

    def teardown(self) -> None:
        if hasattr(self, "sim"):
            self.sim.close()


TestAnyLife = Lives.TestCase
TestAnyLife.settings = settings(
    stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
