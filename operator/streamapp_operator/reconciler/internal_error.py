"""An exception of the operator's own code as a problem of the generation that led to it."""

from types import TracebackType

from streamapp.spec.problem import Problem, short
from streamapp.spec.reasons import Reason

MOST_CHARACTERS = 300


def internal_error(error: Exception) -> Problem:
    """The problem, with the place in the operator's code."""
    place = _place(error.__traceback__)
    text = short(str(error), MOST_CHARACTERS)
    message = f"the operator failed at {place} ({type(error).__name__}: {text}); its log has more"
    return Problem(
        0, 0, "spec", f"{message}. Report this, and change or undo the edit", Reason.INTERNAL_ERROR
    )


def _place(traceback: TracebackType | None) -> str:
    """Module and line of the innermost call in the product's own code."""
    place = "an unknown place"
    while traceback is not None:
        module = str(traceback.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in {"streamapp", "streamapp_operator"}:
            place = f"{module}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
