"""The sentences about an app's executors and the tasks that wait for them."""

from streamapp.plan.render.wording import listed
from streamapp.protocol.driver_report import DriverState
from streamapp_operator.reconciler.facts.facts import MissingExecutors
from streamapp_operator.reconciler.findings import Findings

_MOST_NAMED_PROCESSORS = 5
"""How many are named where tasks wait for them."""


def work_text(findings: Findings) -> str:
    """The work of the tasks, as the driver reports it."""
    moved = findings.report.moved if findings.report else {}
    if waiting := _waiting_tasks(findings):
        missing_processors = sorted(set(waiting.values()))
        return f"{len(waiting)} tasks wait for {listed(missing_processors, _MOST_NAMED_PROCESSORS)}"
    return f"all tasks run; away from their processors: {len(moved)}" if moved else "all processors work"


def executor_problem(findings: Findings) -> str:
    """The problem of the driver's executors, in Kubernetes' words where there are any."""
    pod, now = findings.driver.pod, findings.facts.now
    missing = findings.facts.pods.missing_executors.get(pod.uid) if pod is not None else None
    if missing is not None and missing.seconds(now) < MissingExecutors.GRACE_SECONDS:
        missing = None
    trouble = next(
        (f"{item.name}: {item.trouble}" for item in findings.facts.pods.executors if item.trouble), ""
    )
    refused_pod = missing.refused_pod if missing is not None else None
    if refused_pod is not None and not trouble:
        trouble = refused_pod.text("an executor")
    waiting = work_text(findings) if findings.processing and _waiting_tasks(findings) else ""
    has_lost_some = missing is not None and missing.living > 0 and findings.processing
    if not (trouble or waiting or has_lost_some):
        return ""
    counts = f"{missing.living} of {missing.wanted} executors run" if missing is not None else ""
    return "\n".join(line for line in (counts, trouble, waiting) if line)


def all_tasks_wait(findings: Findings) -> bool:
    """True if no task of an app that makes batches has an executor."""
    model = findings.model_in_force
    has_tasks = findings.processing and model is not None and bool(model.tasks)
    return has_tasks and model is not None and len(_waiting_tasks(findings)) == len(model.tasks)


def awaited_executors(findings: Findings) -> str:
    """The number of executors for which a driver waits; empty where it has all, or waits for none."""
    report = findings.report
    if report is None or report.state is not DriverState.WAITING or findings.embedded:
        return ""
    bound = sum(bool(executor_binding.executor) for executor_binding in report.binding.values())
    wanted = findings.target.accepted.app.spec.processors if findings.target else 0
    return f"{bound} of {wanted} executors are there" if bound < wanted else ""


def _waiting_tasks(findings: Findings) -> dict[str, str]:
    """The tasks whose processor has no lane, by the report of a driver that runs the model."""
    report, model = findings.report, findings.model_in_force
    if report is None or model is None or report.model_version != model.version or findings.embedded:
        return {}
    if report.binding.keys() >= set(model.processors):
        return {}
    return {task: owner for task, owner in report.owners(model).items() if owner not in report.binding}
