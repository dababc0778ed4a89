"""The times of the last runs, which `python -m tests.harness.repository.stage_times FOLDER` prints."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

SLOWEST = 30


class TestTime(NamedTuple):
    """The seconds of one test in one stage."""

    __test__ = False

    stage: str
    module: str
    name: str
    seconds: float

    @property
    def folder(self) -> str:
        """The folder of the test, at most three deep."""
        return "/".join(self.module.split(".")[:-1][:3])


def recorded_times(folder: Path) -> Iterator[TestTime]:
    """The times that each stage has written."""
    for file in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(file).iter("testcase"):  # noqa: S314 - pytest has written it here
            yield TestTime(
                file.stem, case.get("classname", ""), case.get("name", ""), float(case.get("time", 0))
            )


def report(times: list[TestTime]) -> Iterator[str]:
    """The slowest tests, then the sums by folder and stage, the largest first."""
    for test in sorted(times, key=lambda test: -test.seconds)[:SLOWEST]:
        yield f"{test.seconds:8.1f} s  {test.stage:17} {test.module}::{test.name}"
    sums: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for test in times:
        sums[test.folder, test.stage].append(test.seconds)
        sums["all", test.stage].append(test.seconds)
    yield ""
    for (folder, stage), seconds in sorted(sums.items(), key=lambda entry: -sum(entry[1])):
        yield f"{sum(seconds):8.1f} s  {stage:17} {len(seconds):6} tests  {folder}"


def main(folder: Path) -> int:
    """Print the times, or that there are none."""
    times = list(recorded_times(folder))
    lines = list(report(times)) if times else ["no times are recorded; `make test` and its like record them"]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if times else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
