"""What `make demo` shows: an app is planned, its twin rejected, it runs, and a killed run is resumed."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from examples.sample_data import Sample, sample

COMMAND = Path(sys.executable).with_name("streamapp")
HERE = Path(__file__).parent
USERS, VIEWS = 1_000, 100_000
HALFWAY = VIEWS // 2
COUNTING = "run country-views/app.yaml --data data --processors 1 --until-end"


def main() -> int:
    """Run the steps; the demo fails if any of them ends otherwise than it should."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for example in ("page-views", "mismatch", "country-views"):
            (here / example).symlink_to(HERE / example)
        made = sample(USERS, VIEWS)
        made.write(here)
        os.chdir(here)
        _plans()
        _runs()
        return _survives(made)


def _plans() -> None:
    twin = "mismatch/app.yaml --catalog mismatch/topics.yaml"
    _say("Page views, repartitioned by user and joined with a table of users: the plan.")
    _run("plan page-views/app.yaml --catalog page-views/topics.yaml")
    _say("The same without the repartition, where users has 6 partitions: rejected, and why.")
    _run(f"plan {twin}", ends_with=1)
    _say("What the hint says: give both the same count.")
    _run(f"plan {twin} --set users=8")


def _runs() -> None:
    _say(f"{USERS:,} users and {VIEWS:,} views go into an embedded log.")
    _run("log write data users users.jsonl --key user --partitions 8")
    _run("log write data page-views views.jsonl --key user --partitions 8")
    _say("The app runs on Spark until it has read everything.")
    _run("run page-views/app.yaml --data data --processors 1 --until-end")
    _say("The first joined rows.")
    _run("log read data enriched --limit 5")
    _say("What it remembers: a user.")
    _run("state read data users --key u17")


def _survives(made: Sample) -> int:
    _say("A second app joins the same streams and counts views by country. It is killed on its way.")
    last = _killed(f"{COUNTING} --batch-rows 4000 --log-format json")
    sys.stdout.write(f"killed with {last['lag']:,} rows still to be read\n")
    _say("What the killed run left on disk.")
    _run("state list data")
    _say("It is started again, finds its state, and continues from the last checkpoint.")
    _run(COUNTING)
    _say("Views by country, as the app counted them and as they are counted without it.")
    counted, expected = _counted(), made.views_by_country()
    for country, views in sorted(expected.items()):
        sys.stdout.write(f"{country}  {counted.get(country, 0):>8,}  {views:>8,}\n")
    sys.stdout.write("equal\n" if counted == expected else "NOT EQUAL\n")
    return int(counted != expected)


def _killed(arguments: str) -> dict[str, int]:
    """Run until half of the views were read, then kill; gives what the run said last."""
    _show(arguments)
    command = [COMMAND, *shlex.split(arguments)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:  # noqa: S603 - our own
        for told in _told(running):
            if told.get("event") == "progress" and told["lag"] < HALFWAY:
                running.kill()
                return told
    sys.exit("the run ended before it could be killed")


def _told(running: subprocess.Popen[str]) -> Iterator[dict[str, int]]:
    for line in running.stderr or ():
        if line.startswith("{"):  # what a worker prints is no word of the run
            yield json.loads(line)


def _counted() -> dict[object, int]:
    """The newest total of each country."""
    read = _run("log read data totals", show=False)
    rows = [json.loads(line) for line in read.splitlines()]
    return {row["country"]: row["views"] for row in rows}


def _say(words: str) -> None:
    sys.stdout.write(f"\n== {words}\n\n")
    sys.stdout.flush()


def _show(arguments: str) -> None:
    sys.stdout.write(f"$ streamapp {arguments}\n")
    sys.stdout.flush()


def _run(arguments: str, *, ends_with: int = 0, show: bool = True) -> str:
    if show:
        _show(arguments)
    command = [COMMAND, *shlex.split(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own
    if show:
        sys.stdout.write(done.stdout)
    if done.returncode != ends_with:
        sys.exit(f"expected the command to end with {ends_with}, and it ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
