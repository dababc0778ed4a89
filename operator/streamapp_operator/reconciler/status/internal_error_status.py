"""The status of an app about which nothing could be decided."""

from typing import Any

from streamapp.spec.problem import Problem
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.status.app_condition import (
    ConditionType,
    false_condition,
    true_condition,
)
from streamapp_operator.reconciler.status.phase import Phase


def internal_error_status(facts: Facts, problem: Problem) -> dict[str, Any]:
    """The last status with the error; what it says of the driver stays."""
    generation, text = facts.run.own_generation(facts.app.newest.generation), str(problem)
    before = {condition["type"]: condition for condition in facts.app.status.get("conditions") or ()}
    conditions = (
        false_condition(ConditionType.ACCEPTED, problem.reason, text, generation),
        true_condition(ConditionType.STALLED, problem.reason, text, generation),
    )
    updated = {condition.type.value: condition.as_status(before, facts.now) for condition in conditions}
    return {
        "phase": Phase.REJECTED.value,
        **facts.app.status,
        "reason": str(problem.reason),
        "conditions": list({**before, **updated}.values()),
        "observedGeneration": generation,
    }
