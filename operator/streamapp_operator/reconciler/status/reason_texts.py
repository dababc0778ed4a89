"""The meaning of condition types and reasons, one sentence each, for the reference page."""

from collections.abc import Mapping

from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.status.app_condition import ConditionType

CONDITION_TEXTS: Mapping[ConditionType, str] = {
    ConditionType.ACCEPTED: "The newest generation is valid and runs, or is about to. "
    "False: something in "
    "it has to change, or its pods cannot start, and the reason is that of the pod; an earlier generation "
    "keeps running where there is one.",
    ConditionType.PLANNED: "The newest generation has a plan in which all joins agree. Unknown: "
    "the partition "
    "counts are not known, mostly because a system does not answer.",
    ConditionType.LAUNCHED: "There is a driver pod for the generation that is to run.",
    ConditionType.READY: "The driver makes batches with the wanted job model, and has an executor for them. "
    "Tasks that wait while others work are told by `Degraded`. Unknown: "
    "the driver or its node does not answer, or the driver makes no progress. Its "
    "`observedGeneration` is the generation that runs, not the newest.",
    ConditionType.PROGRESSING: "The operator is bringing the app from one form to another.",
    ConditionType.DEGRADED: (
        "The app runs with less than was asked for, or continues although something was refused."
    ),
    ConditionType.STALLED: "No progress without a change: the newest "
    "generation is refused, "
    "the restarts are used up, or a driver that was ready has ended with a fault of the app.",
    ConditionType.SUSPENDED: "The app is at rest because `spec.suspend` says so.",
    ConditionType.CONFIGURATION_OUTDATED: (
        "A Secret or ConfigMap that the app names has changed since the driver was started. A restart "
        "applies it: raise `spec.restartNonce`, or let `spec.onConfigurationChange` do it."
    ),
    ConditionType.RECONCILIATION_PAUSED: (
        "The annotation `streamapp.dev/pause-reconciliation` is `true`: the operator changes nothing of the "
        "app, and the other conditions keep their last values."
    ),
}

REASON_TEXTS: Mapping[ConditionReason, str] = {
    ConditionReason.ACCEPTED: "The resource passed all checks.",
    ConditionReason.PLANNED: "Every stream has a count, and all joins agree.",
    ConditionReason.NOT_PLANNED_YET: "The partition counts are being looked up.",
    ConditionReason.LOOKUP_ENDED: (
        "A system made the operator's lookup take more memory, threads, bytes or time than it may. "
        "Other apps go on."
    ),
    ConditionReason.PLANNED_BY_DRIVER: (
        "Only the driver can plan: its log or its state are out of reach of the operator."
    ),
    ConditionReason.AWAITING_DRIVER: (
        "The running driver has the edit before it, with Spark and the app's own code; it has half a minute."
    ),
    ConditionReason.NOT_ACCEPTED: "Nothing is accepted that could be run.",
    ConditionReason.LAUNCHED: "A driver pod was made.",
    ConditionReason.DRIVER_STARTING: "The driver runs and has not got to its first batch.",
    ConditionReason.DRIVER_PENDING: (
        "The driver's pod does not run yet; the message says why, where that is known."
    ),
    ConditionReason.DRIVER_FAILED: "The last driver failed.",
    ConditionReason.DRIVER_REPORTED: (
        "The driver warns of something for which this operator has no reason; the message says what."
    ),
    ConditionReason.LAUNCH_REJECTED: (
        "The API server would not take an object, by a quota or a policy for instance."
    ),
    ConditionReason.NAME_TAKEN: "An object that the app needs exists and belongs to another owner.",
    ConditionReason.NOT_RESTORED: (
        "An object of a running driver was deleted or changed, and the API server refuses to restore it."
    ),
    ConditionReason.LOCALITY_UNREADABLE: (
        "An event alone: the ConfigMap with the places of tasks cannot be read, and counts as empty."
    ),
    ConditionReason.EXECUTORS_MISSING: (
        "Not all executors are running; the message says why, in Kubernetes' words where it has any."
    ),
    ConditionReason.STANDBY_MISSING: (
        "The app asks for a standby driver, and none is ready: the message says why. The app itself works."
    ),
    ConditionReason.RESTORING: "Tasks bring back their state; those that have it work.",
    ConditionReason.RUNNING: "Batches are made.",
    ConditionReason.ENDING: "A driver, or one of its pods, is ending.",
    ConditionReason.BACKING_OFF: "The next driver waits, because the last ones failed.",
    ConditionReason.RESTARTS_EXHAUSTED: "The app failed as often as its restart policy allows.",
    ConditionReason.DELETED: "The driver's pod was deleted.",
    ConditionReason.NO_PROGRESS: (
        "The driver is stopped or hangs, or its node does not answer; the message says which. A driver that "
        "hangs is replaced after 15 seconds at the latest."
    ),
    ConditionReason.NODE_LOST: "The driver's node was deleted, or did not answer for `driver.lostTimeout`.",
    ConditionReason.SUPERSEDED: "There was a second driver; the newest one stays.",
    ConditionReason.SPEC_CHANGED: "An edit restarts the driver; the message names the fields.",
    ConditionReason.CONFIGURATION_CHANGED: (
        "A Secret or ConfigMap that the app names has changed since the driver was started."
    ),
    ConditionReason.ACCOUNT_REPLACED: (
        "The driver's service account was deleted, so that its token is void; the driver is replaced."
    ),
    ConditionReason.PARTITIONS_GREW: "A topic has more partitions; the message names it.",
    ConditionReason.MODEL_CHANGED: "The driver applies another job model.",
    ConditionReason.TASKS_MOVED: "Tasks of a lost processor run on others for now; the message says which.",
    ConditionReason.TASKS_RETURNED: "Every task runs on the processor that the job model gives it.",
    ConditionReason.SCALED: "Autoscaling has set another number of processors; the message says why.",
    ConditionReason.STABLE: "Nothing is under way.",
    ConditionReason.SUSPENDED: "`spec.suspend` is set.",
    ConditionReason.NOT_SUSPENDED: "`spec.suspend` is not set.",
    ConditionReason.RECONCILIATION_PAUSED: "The app has the annotation that pauses its reconciliation.",
    ConditionReason.NOT_PAUSED: "The app does not have that annotation.",
    ConditionReason.COMPLETED: "The app has done all there was to do.",
    ConditionReason.HEALTHY: "Nothing is wrong.",
    ConditionReason.UP_TO_DATE: "No action is needed.",
}
