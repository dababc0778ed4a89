"""The forms of the operator that outlive a process; `streamapp.durable_forms` has the rule for versions."""

from typing import Final

from streamapp.durable_forms import DurableForm

POD_SHAPE: Final = DurableForm(
    "pod shape",
    1,
    "ConfigMap of an accepted generation",
    "the operator, for every driver of the generation",
    "Stored shapes stay as they are, so that new defaults restart nothing. Spark reads executor.json itself.",
)
DRIVER_REFUSAL: Final = DurableForm(
    "refusal of a generation",
    1,
    "annotation of the ConfigMap of an accepted generation",
    "the operator, for the conditions",
    "It has no number: fields are added, and a text that is no document is the message.",
)
APP_REVISION: Final = DurableForm(
    "revision of an app",
    1,
    "ControllerRevision `<app>-revision-<number>`",
    "the operator, for what the next one changed; `streamapp history` and `rollback`",
    "Its number is the `apiVersion` of the spec in it. One that cannot be read is listed without its spec.",
)
FOLDER_MARK: Final = DurableForm(
    "mark of a state folder",
    1,
    "file `.streamapp/<namespace>/<applicationId>.json` in a root of `hostPath` state",
    "the pods that clear nodes",
    "A folder whose mark cannot be read is left alone, and marked again while its app is there.",
)

DURABLE_FORMS: Final = (POD_SHAPE, DRIVER_REFUSAL, APP_REVISION, FOLDER_MARK)
