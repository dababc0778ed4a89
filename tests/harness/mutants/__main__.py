"""`python -m tests.harness.mutants`: plant one small fault at a time, and say which test notices it."""

import json
import queue
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final

import click

from tests.harness.mutants.coverage_map import covering_tests, shared_words
from tests.harness.mutants.faults import PRODUCT, Fault, chosen_faults
from tests.harness.mutants.mutant_tree import MutantTree, resolved
from tests.harness.mutants.verdicts import Verdict, VerdictFile, killer

ROOT: Final = Path(__file__).parents[3]
STARTS: Final = "spark or broker or api_server or browser or helm or postgres or redis or process"
TIERS: Final = {
    "unit": f"(smoke or not ({STARTS})) and not (long or nightly)",
    "integration": f"({STARTS}) and not (smoke or long or nightly)",
    "long": "long and not nightly",
}
"""By tier, the tests of it, as the Makefile's stages choose them."""

MOST_TESTS: Final = 150
"""So many tests are run for a fault: those first whose names share words with its module's path."""
SECONDS: Final = 240


class Judge:
    """Runs the tests that cover a fault; a failure counts if the same tests pass without the fault."""

    def __init__(self, trees: list[MutantTree], covered: dict[str, dict[int, list[str]]]) -> None:
        self._trees: queue.SimpleQueue[MutantTree] = queue.SimpleQueue()
        for tree in trees:
            self._trees.put(tree)
        self._covered = covered
        self._passing: dict[tuple[str, ...], bool] = {}

    def verdict(self, number: int, fault: Fault) -> Verdict:
        """The first tier with a test that fails with the fault."""
        tree = self._trees.get()
        try:
            for tier, covered in self._covered.items():
                if test := self._killer(tree, tier, covered.get(number, []), fault):
                    return Verdict(fault.name, tier, test)
            is_covered = any(number in covered for covered in self._covered.values())
            return Verdict(fault.name, "" if is_covered else "no test runs it", "")
        finally:
            self._trees.put(tree)

    def _killer(self, tree: MutantTree, tier: str, tests: list[str], fault: Fault) -> str:
        def with_fault(chosen: Sequence[str]) -> str | None:
            with tree.planted(fault):
                return self._first_failure(tree, tier, chosen)

        def passes_without(chosen: Sequence[str]) -> bool:
            key = tuple(chosen)
            if key not in self._passing:
                self._passing[key] = self._first_failure(tree, tier, chosen) is None
            return self._passing[key]

        nearest = sorted(dict.fromkeys(tests), key=lambda test: -shared_words(fault.path, test))
        return killer(nearest[:MOST_TESTS], with_fault, passes_without)

    def _first_failure(self, tree: MutantTree, tier: str, tests: Sequence[str]) -> str | None:
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as listed:
            listed.write("\n".join(tests))
            listed.flush()
            run = tree.pytest(
                ["-x", "-q", "-p", "no:xdist", "--timeout=120", "-m", TIERS[tier], f"@{listed.name}"],
                seconds=SECONDS,
                environment={"TEST_PROFILE": "unit"},
            )
        if run is None:
            return "the run does not end"
        if run.returncode in (0, 5):
            return None
        lines = run.stdout.splitlines()
        failures = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        if not failures:
            return "the run ends: " + (lines[-1] if lines else "no output")
        named = failures[0].partition(" ")[2]
        return next((test for test in tests if named == test or named.startswith(f"{test} - ")), named)


def report(faults: list[Fault], verdicts: dict[str, Verdict], tiers: list[str]) -> Iterator[str]:
    """The faults by room and by the tier that noticed them; then those that no test noticed."""
    rooms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for fault in faults:
        for room in (room_of(fault), "all"):
            rooms[room][verdicts[fault.name].tier] += 1
    yield f"{'room':44} {'faults':>6} " + " ".join(f"{tier:>11}" for tier in tiers) + "   survived  not run"
    for room, counts in sorted(rooms.items(), key=lambda entry: (entry[0] == "all", entry[0])):
        killed = " ".join(f"{counts[tier]:11}" for tier in tiers)
        yield f"{room:44} {counts.total():6} {killed} {counts['']:10} {counts['no test runs it']:8}"
    yield ""
    for fault in sorted(faults):
        verdict = verdicts[fault.name]
        if verdict.tier not in tiers:
            yield f"{verdict.tier or 'survived':16} {fault.name}"


def room_of(fault: Fault) -> str:
    """The room of a fault: the folder below the package."""
    parts = fault.path.split("/")
    package = parts.index(next(part for part in parts if part.startswith("streamapp")))
    return "/".join(parts[package : max(package + 2, len(parts) - 1)][:2])


@click.command()
@click.option("--seed", default=1, help="the choice of faults")
@click.option("--count", default=300, help="the number of faults")
@click.option("--tier", "tiers", multiple=True, type=click.Choice(list(TIERS)), default=["unit"])
@click.option("--room", "rooms", multiple=True, default=PRODUCT, help="a folder of the product")
@click.option("--workers", default=2, help="the number of faults that are tried at once")
@click.option("--commit", default="HEAD", help="the commit that is judged")
def main(
    seed: int, count: int, tiers: tuple[str, ...], rooms: tuple[str, ...], workers: int, commit: str
) -> None:
    """Plant COUNT faults one at a time, run the tests that cover them, and say who noticed.

    A run that was ended goes on where it was, as long as the commit is the same.
    """
    folder = ROOT / ".mutants"
    folder.mkdir(exist_ok=True)
    commit = resolved(ROOT, commit)
    trees = [MutantTree(ROOT, folder / f"tree-{index}", commit) for index in range(workers)]
    faults = chosen_faults(trees[0].folder, seed, count, rooms)
    covered = {tier: _recorded_map(folder, trees[0], faults, tier, workers) for tier in tiers}
    judge = Judge(trees, covered)
    file = VerdictFile(folder / "verdicts.jsonl", commit, tiers)
    names = {fault.name for fault in faults}
    verdicts = {name: verdict for name, verdict in file.read().items() if name in names}
    remaining = {number: fault for number, fault in enumerate(faults) if fault.name not in verdicts}
    with ThreadPoolExecutor(workers) as pool:
        for ended in as_completed(pool.submit(judge.verdict, *numbered) for numbered in remaining.items()):
            verdict = ended.result()
            verdicts[verdict.fault] = verdict
            file.add(verdict)
            who = f"{verdict.tier}: {verdict.test}" if verdict.test else verdict.tier or "survived"
            sys.stderr.write(f"{len(verdicts):4} of {len(faults)}  {verdict.fault}\n      {who}\n")
    sys.stdout.write("\n".join(report(faults, verdicts, list(tiers))) + "\n")


def _recorded_map(
    folder: Path, tree: MutantTree, faults: list[Fault], tier: str, workers: int
) -> dict[int, list[str]]:
    """The tests that cover each fault, from a file if the same faults were looked for before."""
    file = folder / f"covered-{tier}.json"
    names = [fault.name for fault in faults]
    if file.exists():
        recorded = json.loads(file.read_text(encoding="utf-8"))
        if recorded["faults"] == names:
            return {int(number): tests for number, tests in recorded["tests"].items()}
    arguments = ["-q", "-n", str(workers), "--dist", "loadscope", "-m", TIERS[tier]]
    tests = covering_tests(tree, faults, arguments, {"TEST_PROFILE": "unit"})
    file.write_text(json.dumps({"faults": names, "tests": tests}), encoding="utf-8")
    return tests


if __name__ == "__main__":
    main()
