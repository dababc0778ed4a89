"""The names of an app's objects, derived from the app's name or uid."""

import re
from hashlib import blake2b

_DRIVER = re.compile(r".+-driver-([0-9]{1,15})", re.ASCII)
_REVISION = re.compile(r".+-revision-([0-9]{1,9})", re.ASCII)
_ACCEPTED = re.compile(r".+-accepted-([0-9]{1,18})", re.ASCII)


def accepted(app: str, generation: int) -> str:
    """The ConfigMap with an accepted generation."""
    return f"{app}-accepted-{generation}"


def accepted_generation_in(config_map: str) -> int:
    """The generation in the name of such a ConfigMap; 0 for another name."""
    match = _ACCEPTED.fullmatch(config_map)
    return int(match[1]) if match else 0


def job_model(app: str) -> str:
    """The ConfigMap with the job model that the driver is to run."""
    return f"{app}-job-model"


def report(app: str) -> str:
    """The ConfigMap that the driver reports in."""
    return f"{app}-report"


def locality(app: str) -> str:
    """The ConfigMap with the locality of tasks and processors."""
    return f"{app}-locality"


def revision(app: str, number: int) -> str:
    """The ControllerRevision with a spec that the app ran with."""
    return f"{app}-revision-{number}"


def revision_number(revision: str) -> int:
    """The number in the name of such a ControllerRevision; 0 for another name."""
    match = _REVISION.fullmatch(revision)
    return int(match[1]) if match else 0


def service(app: str) -> str:
    """The headless Service under which driver pods have names."""
    return f"{app}-driver"


def network_policy(app: str) -> str:
    """The NetworkPolicy of the app's pods."""
    return f"{app}-pods"


def driver(app: str, incarnation: int) -> str:
    """The driver pod of one incarnation."""
    return f"{app}-driver-{incarnation}"


def run_secret(driver: str) -> str:
    """The Secret by which a driver pod and its executors know each other."""
    return f"{driver}-run"


def driver_incarnation(pod: str) -> int:
    """The incarnation in the name of a driver pod; 0 for another name. Names never change, labels may."""
    match = _DRIVER.fullmatch(pod)
    return int(match[1]) if match else 0


def is_of_app(kind: str, name: str, app: str) -> bool:
    """True if an object of an app has this name."""
    match kind:
        case "Pod":
            return driver_incarnation(name) > 0 and name.startswith(f"{app}-driver-")
        case "ConfigMap":
            is_accepted = accepted_generation_in(name) > 0 and name.startswith(f"{app}-accepted-")
            return is_accepted or name in {job_model(app), report(app), locality(app)}
    return name in {service(app), network_policy(app), executor_account(app)}


def driver_account(app: str) -> str:
    """The service account, role and binding of the driver."""
    return f"{app}-driver"


def executor_account(app: str) -> str:
    """The service account of the executors, which may do nothing."""
    return f"{app}-executor"


def spark_app(uid: str) -> str:
    """Spark's id of the app: the same at each start, since volume claims are matched by it.

    Derived from the uid: an app that is deleted and created again must not meet the old StatefulSet.
    """
    return "sa-" + blake2b(uid.encode(), digest_size=8).hexdigest()


def executor_set(uid: str) -> str:
    """The StatefulSet that Spark creates for executors with volume claims."""
    return f"spark-s-{spark_app(uid)}-0"


def is_executor_claim(claim: str, uid: str) -> bool:
    """True if a claim of that name is one of the StatefulSet's: a template, the set and an ordinal."""
    return re.fullmatch(rf".+-{executor_set(uid)}-[0-9]{{1,5}}", claim, re.ASCII) is not None
