"""A search for wrong answers: case after case, until the time is over or one is wrong."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from tests.oracle.cases.case import Case
from tests.oracle.cases.data_generator import random_case
from tests.oracle.kit_driver import run_in_kit
from tests.oracle.trial import CaseDriver, Trial, Verdict, try_case


@dataclass(slots=True)
class SearchReport:
    """How many cases were tried, what became of them, and the first seed that was wrong."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    wrong: int | None = None
    wrong_lines: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The report in one line."""
        cases = self.verdicts.total()
        counted = ", ".join(f"{number} {verdict}" for verdict, number in self.verdicts.items())
        rate = cases / max(self.seconds, 0.001) * 60
        return f"{cases} apps in {self.seconds:.0f} s ({rate:.0f} a minute): {counted}"

    @property
    def refused_share(self) -> float:
        """How many of the apps were refused: time that the search has wasted."""
        return self.verdicts[Verdict.REFUSED] / max(self.verdicts.total(), 1)


def seeds_from(first: int) -> Iterator[int]:
    """Seeds without an end."""
    return count(first)


def search(seeds: Iterable[int], seconds: float, driver: CaseDriver = run_in_kit) -> SearchReport:
    """Try cases until one is wrong, or the time is over."""
    report, begun = SearchReport(), time.monotonic()
    for seed in seeds:
        trial = try_case(random_case(seed), driver)
        report.verdicts[trial.verdict] += 1
        report.seconds = time.monotonic() - begun
        if trial.verdict is Verdict.WRONG:
            report.wrong, report.wrong_lines = seed, trial.lines
            return report
        if trial.verdict is not Verdict.RIGHT:
            report.reasons[f"{trial.verdict}: {trial.lines[0] if trial.lines else ''}"] += 1
        if report.seconds > seconds:
            return report
    return report


def fails_alike(first: Trial, driver: CaseDriver = run_in_kit) -> Callable[[Case], bool]:
    """Whether a case fails as another one did: in a stream, a table or a count, or with the same end."""
    kind = _kind(first)

    def fails(case: Case) -> bool:
        try:
            trial = try_case(case, driver)
        except Exception:  # a smaller case may make no sense
            return False
        return trial.verdict is Verdict.WRONG and _kind(trial) == kind

    return fails


def _kind(trial: Trial) -> str:
    """What differs, without the counts."""
    first = trial.lines[0] if trial.lines else ""
    return (
        first[:40]
        if first.startswith("ended")
        else re.sub(r"[1-9]\d* (missing|not)|, \d+ in all", r"some \1", first)
    )
