"""What aspects and reasons mean, a sentence for each, for the reference page."""

from collections.abc import Mapping

from streamapp_operator.status.condition import Aspect
from streamapp_operator.status.why import Why

ASPECTS: Mapping[Aspect, str] = {
    Aspect.ACCEPTED: "The newest generation is sound and is what runs, or is about to. False: something in "
    "it has to change; an earlier generation goes on where there is one.",
    Aspect.PLANNED: "The newest generation has a plan in which all joins agree. Unknown: the partition "
    "counts are not known, mostly because a system does not answer.",
    Aspect.LAUNCHED: "There is a driver pod for the generation that is to run.",
    Aspect.READY: "The driver makes batches with the job model that it was told to run. Its "
    "`observedGeneration` is the generation that runs, not the newest.",
    Aspect.PROGRESSING: "The operator is bringing the app from one form to another.",
    Aspect.DEGRADED: "The app does not run as well as it was asked to, or goes on with something refused.",
    Aspect.STALLED: "Nothing gets better unless somebody does something: the newest generation is refused, "
    "or the restarts are used up.",
    Aspect.SUSPENDED: "The app is at rest because `spec.suspend` says so.",
}

REASONS: Mapping[Why, str] = {
    Why.ACCEPTED: "The resource passed all checks.",
    Why.PLANNED: "Every stream has a count, and all joins agree.",
    Why.NOT_PLANNED_YET: "The partition counts are being looked up.",
    Why.PLANNED_BY_DRIVER: "Only the driver can plan: its log or its state are where nobody else can look.",
    Why.NOT_ACCEPTED: "Nothing is accepted that could be run.",
    Why.LAUNCHED: "A driver pod was made.",
    Why.DRIVER_STARTING: "The driver runs and has not got to its first batch.",
    Why.DRIVER_PENDING: "The driver's pod does not run yet; the message says why, where that is known.",
    Why.DRIVER_FAILED: "The last driver failed.",
    Why.LAUNCH_REJECTED: "The API server would not take an object, by a quota or a policy for instance.",
    Why.NAME_TAKEN: "An object that the app needs is there and is somebody else's.",
    Why.EXECUTORS_MISSING: "Not all executors are there.",
    Why.RESTORING: "Tasks bring back their state; those that have it work.",
    Why.RUNNING: "Batches are made.",
    Why.ENDING: "A driver, or what it left behind, is ending.",
    Why.BACKING_OFF: "The next driver waits, because the last ones failed.",
    Why.RESTARTS_EXHAUSTED: "The app failed as often as its restart policy allows.",
    Why.DELETED: "Somebody took the driver's pod away.",
    Why.NODE_LOST: "The driver's node is gone, or did not answer for `driver.lostTimeout`.",
    Why.SUPERSEDED: "There was a second driver; the newest one stays.",
    Why.SPEC_CHANGED: "An edit restarts the driver; the message names the fields.",
    Why.PARTITIONS_GREW: "A topic has more partitions; the message names it.",
    Why.MODEL_CHANGED: "The driver takes up another job model.",
    Why.STABLE: "Nothing is under way.",
    Why.SUSPENDED: "`spec.suspend` is set.",
    Why.NOT_SUSPENDED: "`spec.suspend` is not set.",
    Why.COMPLETED: "The app has done all there was to do.",
    Why.HEALTHY: "Nothing is wrong.",
    Why.UP_TO_DATE: "Nobody has to do anything.",
}
