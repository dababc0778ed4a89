"""How the objects of an app are called: from its name alone, so that nothing has to remember them."""

from hashlib import blake2b


def accepted(app: str, generation: int) -> str:
    """The ConfigMap with an accepted generation."""
    return f"{app}-accepted-{generation}"


def job_model(app: str) -> str:
    """The ConfigMap with the job model that the driver is to run."""
    return f"{app}-job-model"


def report(app: str) -> str:
    """The ConfigMap that the driver reports in."""
    return f"{app}-report"


def locality(app: str) -> str:
    """The ConfigMap that remembers where tasks and processors were."""
    return f"{app}-locality"


def service(app: str) -> str:
    """The headless Service under which driver pods have names."""
    return f"{app}-driver"


def driver(app: str, incarnation: int) -> str:
    """The driver pod of one incarnation."""
    return f"{app}-driver-{incarnation}"


def driver_account(app: str) -> str:
    """The service account, role and binding of the driver."""
    return f"{app}-driver"


def executor_account(app: str) -> str:
    """The service account of the executors, which may do nothing."""
    return f"{app}-executor"


def spark_app(uid: str) -> str:
    """Spark's own id of the app: the same at each start, since volume claims are found by it.

    From the object's uid: an app that is deleted and made anew shall not meet a StatefulSet of the last one.
    """
    return "sa-" + blake2b(uid.encode(), digest_size=8).hexdigest()


def executor_set(uid: str) -> str:
    """The StatefulSet that Spark makes for executors with volume claims."""
    return f"spark-s-{spark_app(uid)}-0"
