"""What `make demo` shows: an app is planned, its twin rejected and mended, a topic grows, a node dies."""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = Path(sys.executable).with_name("streamapp")
HERE = Path(__file__).parent
NODES = {"processor-0": "node-a", "processor-1": "node-a", "processor-2": "node-b", "processor-3": "node-c"}


def main() -> int:
    """Run the steps; the demo fails if any of them ends otherwise than it should."""
    with tempfile.TemporaryDirectory() as folder:
        return _steps(Path(folder))


def _steps(folder: Path) -> int:
    views = "page-views/app.yaml --catalog page-views/topics.yaml"
    twin = "mismatch/app.yaml --catalog mismatch/topics.yaml"
    nodes, fewer, before = folder / "nodes.yaml", folder / "fewer.yaml", folder / "before.json"
    nodes.write_text("".join(f"{name}: {place}\n" for name, place in NODES.items()))
    fewer.write_text("".join(f"{name}: {place}\n" for name, place in NODES.items() if place != "node-c"))
    _say("Page views, repartitioned by user and joined with a table of users: the plan.")
    _run(f"plan {views}")
    _say("The same without the repartition, where users has 6 partitions: rejected, and why.")
    _run(f"plan {twin}", ends_with=1)
    _say("What the hint says: give both the same count.")
    _run(f"plan {twin} --set users=8")
    _say("Where its tasks run: four processors on three nodes.")
    before.write_text(_run(f"place {views} --processors {nodes} -o json", show=False))
    _run(f"place {views} --processors {nodes}")
    _say("The users topic grows to 16: its new partitions go to the tasks that have their keys.")
    _run(f"tasks {views} --set users=16 --previous {before}")
    _say("It grows to 12 instead: keys would leave their state, so it is refused.")
    _run(f"tasks {views} --set users=12 --previous {before}", ends_with=1)
    _say("node-c dies: its two tasks move, the other six stay where their state is.")
    _run(f"place {views} --processors {fewer} --previous {before}")
    return 0


def _say(words: str) -> None:
    sys.stdout.write(f"\n== {words}\n\n")
    sys.stdout.flush()


def _run(arguments: str, *, ends_with: int = 0, show: bool = True) -> str:
    if show:
        shown = " ".join(Path(word).name if Path(word).is_absolute() else word for word in arguments.split())
        sys.stdout.write(f"$ streamapp {shown}\n")
    done = subprocess.run(  # noqa: S603 - our own command
        [COMMAND, *shlex.split(arguments)], cwd=HERE, stdout=subprocess.PIPE, text=True, check=False
    )
    if show:
        sys.stdout.write(done.stdout)
    if done.returncode != ends_with:
        sys.exit(f"expected the command to end with {ends_with}, and it ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
