"""What the conditions are told from: all findings of one reconcile."""

from dataclasses import dataclass

from streamapp.author.app_streams import is_embedded
from streamapp.protocol.driver_report import DriverState, Report
from streamapp.tasks.refusal import Refusal
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.driver.driver_actions import DriverAction
from streamapp_operator.reconciler.driver.driver_decision import DriverDecision
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle
from streamapp_operator.reconciler.planning.acceptance import Acceptance
from streamapp_operator.reconciler.planning.generation_plan import GenerationPlan
from streamapp_operator.reconciler.planning.model_update import ModelUpdate


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings."""

    facts: Facts
    acceptance: Acceptance
    authored: GenerationPlan | None  # of the generation that is to run
    modelled: ModelUpdate | Refusal | None
    driving: DriverDecision
    move: DriverAction

    @property
    def target(self) -> AcceptedGeneration | None:
        """The generation that is to run."""
        return self.acceptance.target

    @property
    def report(self) -> Report | None:
        """What the driver that lives says of itself; nothing where the last word is another's."""
        report, pod = self.facts.report, self.driving.pod
        return report if report is not None and pod is not None and report.driver == pod.name else None

    @property
    def wanted_version(self) -> int:
        """The version of the model that the driver was last told to run."""
        desired = self.facts.desired
        return desired.wanted.model.version if desired and desired.wanted.model else 0

    @property
    def running(self) -> bool:
        """Whether the driver runs what it was told to."""
        pod, report = self.driving.pod, self.report
        if pod is None or report is None or pod.life is not PodLifecycle.LIVING:
            return False
        applied = report.model_version == self.wanted_version or self.embedded
        return report.state is DriverState.RUNNING and applied

    @property
    def ended(self) -> bool:
        """Whether the driver has done all that there was to do, and is about to go."""
        return self.report is not None and self.report.state is DriverState.ENDED

    @property
    def behind(self) -> bool:
        """Whether the driver goes by an earlier generation; not where it does not say by which."""
        told = self.report.generation if self.report else 0
        return self.target is not None and 0 < told < self.target.generation

    @property
    def embedded(self) -> bool:
        """Whether the driver is the author of its own model."""
        return self.target is not None and is_embedded(self.target.accepted.app)

    @property
    def suspended(self) -> bool:
        """Whether the app is not to run for now."""
        return self.target is not None and self.target.accepted.app.spec.suspend
