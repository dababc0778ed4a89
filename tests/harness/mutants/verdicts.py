"""The verdict on each fault: how tests come to it, and the file that keeps it for a run that goes on."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple


class Verdict(NamedTuple):
    """The end of a fault: the tier and test that noticed it, or neither."""

    fault: str
    tier: str
    test: str


class VerdictFile:
    """The verdicts on the faults of one commit by the same tiers, of this run and those before it."""

    def __init__(self, path: Path, commit: str, tiers: Iterable[str]) -> None:
        self._path = path
        self._run = {"commit": commit, "tiers": list(tiers)}

    def read(self) -> dict[str, Verdict]:
        """The verdicts by the name of the fault."""
        if not self._path.exists():
            return {}
        lines = map(json.loads, self._path.read_text(encoding="utf-8").splitlines())
        verdicts = [Verdict(*line["verdict"]) for line in lines if self._run.items() <= line.items()]
        return {verdict.fault: verdict for verdict in verdicts}

    def add(self, verdict: Verdict) -> None:
        """Add a verdict."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**self._run, "verdict": verdict}) + "\n")


def killer(
    tests: Sequence[str],
    with_fault: Callable[[Sequence[str]], str | None],
    passes_without: Callable[[Sequence[str]], bool],
) -> str:
    """The test that fails with a fault and passes without it, or how their run ended; "" where none does.

    A run may end by itself, or take too long. If it does so without the fault, too, its halves are run.
    """
    groups = [tests]
    while groups:
        chosen = groups.pop()
        failed = with_fault(chosen) if chosen else None
        if failed is None:
            continue
        is_test = failed in chosen
        if passes_without([failed] if is_test else chosen):
            return failed
        if is_test:
            groups.append([test for test in chosen if test != failed])
        elif len(chosen) > 1:
            half = len(chosen) // 2
            groups += [chosen[half:], chosen[:half]]
    return ""
