"""Why an app that asks for a standby driver has none that is ready."""

from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.driver.successor import WARM_UP_SECONDS
from streamapp_operator.reconciler.facts.facts import AppPods, Facts
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState
from streamapp_operator.reconciler.facts.reported_texts import ending_message


def standby_problem(facts: Facts, target: AcceptedGeneration | None) -> str:
    """The obstacle to the newest standby's readiness; empty for one that is ready, or has time left."""
    standby = _newest_standby(facts.pods, target)
    if standby is None:
        return ""
    if standby.life is PodLifecycle.ENDED:
        message = ending_message(standby.ending)
        return f"standby driver {standby.name} ended: {message}; another one follows within a minute"
    if standby.trouble and not standby.ready:
        return f"standby driver {standby.name}: {standby.trouble}"
    if seconds_until_late(facts, target) == 0.0:
        return f"standby driver {standby.name} has not got ready in {WARM_UP_SECONDS:.0f} s"
    return ""


def seconds_until_late(facts: Facts, target: AcceptedGeneration | None) -> float | None:
    """In how many seconds a standby takes too long to get ready; None for one that is ready, or ends."""
    standby = _newest_standby(facts.pods, target)
    if standby is None or standby.ready or standby.life in {PodLifecycle.ENDED, PodLifecycle.LEAVING}:
        return None
    return max(0.0, standby.made_at + WARM_UP_SECONDS - facts.now)


def _newest_standby(pods: AppPods, target: AcceptedGeneration | None) -> PodState | None:
    if target is None or not target.accepted.app.spec.driver.standby or not pods.successors:
        return None
    return pods.successors[-1]
