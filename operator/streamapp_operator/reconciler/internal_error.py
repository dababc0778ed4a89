"""An exception of the operator's own code as a problem of the generation that led to it."""

from streamapp.internal_fault import internal_fault
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason


def internal_error(error: Exception) -> Problem:
    """The problem, with the place in the operator's code."""
    message = f"the operator {internal_fault(error)}; its log has more"
    return Problem(
        0, 0, "spec", f"{message}. Report this, and change or undo the edit", Reason.INTERNAL_ERROR
    )
