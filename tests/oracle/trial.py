"""One case tried: refused, unjudged, right, or wrong with what differs."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from streamapp_runtime.driver.app_refusal import AppRefusedError
from tests.oracle.answers.comparison import differences
from tests.oracle.answers.reference import Reference, UnjudgedError
from tests.oracle.cases.case import Case
from tests.oracle.kit_driver import NeedsSparkError, Outcome, run_in_kit

CaseDriver: TypeAlias = Callable[[Case], Outcome]


class Verdict(StrEnum):
    """What became of a case."""

    RIGHT = "right"
    REFUSED = "refused"
    UNJUDGED = "unjudged"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Trial:
    """A verdict with its lines."""

    verdict: Verdict
    lines: tuple[str, ...] = ()


def try_case(case: Case, driver: CaseDriver = run_in_kit) -> Trial:
    """Run a case, and compare."""
    try:
        expected = Reference(case).work_out()
    except UnjudgedError as unjudged:
        return Trial(Verdict.UNJUDGED, (str(unjudged),))
    try:
        outcome = driver(case)
    except NeedsSparkError as needed:
        return Trial(Verdict.UNJUDGED, (f"needs Spark: {needed}",))
    except AppRefusedError as refused:
        return Trial(Verdict.REFUSED, tuple(map(str, refused.problems)))
    except Exception as error:  # whatever ends an app that was accepted is a finding
        lines, reasons = [f"ended: {type(error).__name__}: {error}"], [str(error)]
    else:
        lines, reasons = differences(expected, outcome), outcome.bad
    if expected.may_overflow and any("does not hold" in reason for reason in reasons):
        return Trial(Verdict.UNJUDGED, ("a sum does not fit",))
    return Trial(Verdict.WRONG if lines else Verdict.RIGHT, tuple(lines))
