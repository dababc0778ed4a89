"""The meaning of each reason in one sentence, for the reference page."""

from collections.abc import Mapping

from streamapp.spec.reasons import Reason

SENTENCES: Mapping[Reason, str] = {
    Reason.INVALID_SPEC: "A field of the resource is wrong, missing or unknown, or names something that is "
    "not there.",
    Reason.NOT_YET_SUPPORTED: "A field is set that this version knows but cannot act on.",
    Reason.JOIN_PARTITION_MISMATCH: "The streams that reach a join have different partition counts, so equal "
    "keys would not meet.",
    Reason.UNRESOLVED_PARTITIONS: "Nothing says how many partitions an intermediate stream should have.",
    Reason.MISSING_STREAM: "The app reads a stream of unknown partition count; mostly it does not exist.",
    Reason.TOO_MANY_PARTITIONS: "The streams of the app have more partitions together than one app may have.",
    Reason.INVALID_GRAPH: "The operators do not form a graph that can run, whatever the partition counts.",
    Reason.INVALID_CONFIG: "What was asked for is no partition count, or contradicts another one or what "
    "exists.",
    Reason.EXPANSION_SHRINKS: "A stream of an app with state has fewer partitions than before.",
    Reason.EXPANSION_NOT_MULTIPLE: "A stream of an app with state has grown to a count that is no multiple "
    "of its initial one, so keys would leave their task.",
    Reason.EXPANSION_ALGORITHM_INVALID: "The expansion algorithm raised an error, or gave an index that "
    "breaks its contract.",
    Reason.GROUPER_CHANGED: "Another grouper was named while there is state, which belongs to the tasks of "
    "the first.",
    Reason.GROUPER_INVALID: "A custom grouper raised an error, or did not put every partition into "
    "exactly one task.",
    Reason.LAYOUT_CONFLICT: "A job model contradicts the layout that lives with the state.",
    Reason.NO_TASKS: "There is no task to run: all inputs go to every task, and none has its own partition.",
    Reason.LOCATION_PROVIDER_INVALID: "A custom location provider raised an error, or returned something "
    "that is not a location.",
    Reason.NO_PROCESSORS: "There are tasks and no processor to run them.",
    Reason.INSUFFICIENT_CAPACITY: "The processors' limits leave room for fewer tasks than there are.",
    Reason.INVALID_JOB_MODEL: "A job model does not agree with itself.",
    Reason.DAMAGED_DATA: "Stored data cannot be read, or is not what was written.",
    Reason.NEWER_FORMAT: "Stored data has a format that only a newer version can read.",
    Reason.TOO_LARGE: "A job model or a report is more than a ConfigMap takes.",
    Reason.NOT_ALLOWED: "The app asks for something that this installation does not allow.",
    Reason.OUTSIDE_ALLOW_LIST: "The app names an image, a Secret, a ConfigMap, a claim, an account or a "
    "kind of volume that this installation does not let apps name.",
    Reason.UNSUPPORTED_SYSTEM: "The system of a stream cannot be used as the app would use it on a cluster.",
    Reason.CHANGE_REFUSED: "A field was changed that cannot change while there is state.",
    Reason.APPLICATION_ID_IN_USE: "Another owner holds the application id.",
    Reason.AWAITING_SIDE_INPUT: "Rows wait for the first version of a side input to end; "
    "the app continues with other work.",
    Reason.INPUT_UNAVAILABLE: "A system that the app reads from does not answer; its streams wait, and "
    "the app continues with all others.",
    Reason.TRANSACTION_OPEN: "A transaction in a stream of the app stays open, and records behind it cannot "
    "be read; the app continues with all others.",
    Reason.PARTITION_NOT_READ: "Partitions have records that were not read for a minute, and wait for "
    "nothing that is known; the app continues with all others.",
    Reason.PODS_REFUSED: "The API server would not take the app's pods: a field is wrong, or a policy, "
    "a limit or a quota of the cluster forbids them.",
    Reason.SYSTEM_UNAVAILABLE: "A system does not answer, so the partition counts of its streams are "
    "unknown.",
    Reason.INTERNAL_ERROR: "The operator itself failed on this generation; the message names the place in "
    "its code, and the generation accepted before keeps running.",
    Reason.STORE_DAMAGED: "A state store holds something that cannot be trusted; it is emptied and restored.",
    Reason.STORE_BUSY: "A state store is held by another process.",
    Reason.REPEATED_ROWS: "A warning: rows that every task has are written by every task.",
    Reason.UNUSED_PART: "A warning: nothing uses a part that the app names, or the rows of an operator.",
    Reason.SCHEMA_INCOMPATIBLE: "Rows do not fit the schema to write by, or the registry refuses it.",
    Reason.STATE_CHANGED: "An edit gives state another meaning than it was written with.",
    Reason.STORE_FULL: "There is no room for what a state store was to take.",
    Reason.USER_CODE_FAILED: "A function or class of the app's own raised an error, or gave something else "
    "than was declared for it.",
}
