"""All findings of one reconcile, from which the status and the writes follow."""

from dataclasses import dataclass

from streamapp.author.app_streams import is_embedded
from streamapp.jobmodel.job_model import JobModel
from streamapp.protocol.driver_report import DriverState, Report
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.driver.driver_actions import DriverAction, KeepDriver
from streamapp_operator.reconciler.driver.driver_decision import DriverDecision
from streamapp_operator.reconciler.facts.facts import Facts, TakenName
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.facts.timestamps import format_timestamp
from streamapp_operator.reconciler.installation import AppNetworkRules
from streamapp_operator.reconciler.objects.configuration_versions import changed_configuration
from streamapp_operator.reconciler.planning.acceptance import Acceptance
from streamapp_operator.reconciler.planning.autoscaling import AutoscaleDecision
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan
from streamapp_operator.reconciler.planning.model_update import ModelUpdate


@dataclass(frozen=True, slots=True)
class Findings:
    """The result of each step, beside the facts."""

    facts: Facts
    acceptance: Acceptance
    plan: GenerationPlan | None  # of the generation that is to run
    model: ModelUpdate | Refusal | None
    driver: DriverDecision
    action: DriverAction
    network_rules: AppNetworkRules | None = None  # of the installation as it is now
    model_in_force: JobModel | None = None  # after all writes
    autoscaling: AutoscaleDecision | None = None  # where the app has it

    @property
    def target(self) -> AcceptedGeneration | None:
        """The generation that is to run."""
        return self.acceptance.target

    @property
    def report(self) -> Report | None:
        """The running driver's report; None where the newest report is another driver's."""
        return self.facts.run.report_of(self.driver.pod)

    @property
    def taken_names(self) -> tuple[TakenName, ...]:
        """The names that others have of objects of the app, before its first driver."""
        if self.driver.history.incarnation:
            return ()
        return tuple(taken for taken in self.facts.cluster.taken_names if taken.is_needed)

    @property
    def changed_configuration(self) -> tuple[str, ...]:
        """The Secrets and ConfigMaps that have changed since the driver was started."""
        pod = self.driver.pod
        return (
            changed_configuration(pod.manifest, self.facts.cluster.configuration) if pod is not None else ()
        )

    @property
    def wanted_version(self) -> int:
        """The version of the job model that was last published to the driver."""
        desired = self.facts.run.desired
        return desired.wanted.model.version if desired and desired.wanted.model else 0

    @property
    def running(self) -> bool:
        """True if the driver runs the published job model."""
        report = self.report
        applied = report is not None and report.model_version == self.wanted_version
        return self.processing and (applied or self.embedded)

    @property
    def processing(self) -> bool:
        """True if the driver runs a job model, be it the one before that which it is to take up."""
        pod, report = self.driver.pod, self.report
        if pod is None or report is None or pod.life is not PodLifecycle.LIVING:
            return False
        return report.state is DriverState.RUNNING

    @property
    def no_progress(self) -> str:
        """Why it is not known whether the driver that runs on makes progress; empty where nothing says so."""
        pod = self.driver.pod
        if not isinstance(self.action, KeepDriver) or pod is None or pod.life is not PodLifecycle.LIVING:
            return ""
        node = self.facts.pods.nodes.get(pod.node)
        if node is not None and not node.answers:
            return f"node {pod.node} of driver {pod.name} does not answer"
        if pod.silent_since is None:
            return ""
        since = format_timestamp(pod.silent_since)
        return f"driver {pod.name} has made no progress since {since}; it is replaced if this continues"

    @property
    def ended(self) -> bool:
        """True if the driver has finished its work and is about to exit."""
        return self.report is not None and self.report.state is DriverState.ENDED

    @property
    def runs_earlier_generation(self) -> bool:
        """True if the driver reports an earlier generation than the target."""
        reported_generation = self.report.generation if self.report else 0
        return self.target is not None and 0 < reported_generation < self.target.generation

    @property
    def embedded(self) -> bool:
        """True if the driver plans for itself and writes its own job model."""
        return self.target is not None and is_embedded(self.target.accepted.app)

    @property
    def suspended(self) -> bool:
        """True if the app is suspended."""
        return self.target is not None and self.target.accepted.app.spec.suspend
