"""A driver under an operator that speaks through files, as a process: its argument is their folder."""

import json
import sys
import time
from pathlib import Path

from streamapp.protocol.accepted import decode_accepted
from streamapp_runtime.carriers.files import Files
from streamapp_runtime.cli.attempt import attempt
from streamapp_runtime.driver.driving import drive
from streamapp_runtime.driver.measured import Measured
from streamapp_runtime.driver.post import Post
from streamapp_runtime.driver.progress import Progress
from streamapp_runtime.driver.words import Word


def say(word: Word) -> None:
    sys.stdout.write(json.dumps(word.facts) + "\n")


def main(folder: Path) -> int:
    post = Post(folder, folder / "data", "wanted", "report", pod="driver-1")
    accepted = decode_accepted(post.app.read_text("utf-8"))
    carrier = Files(folder)
    ended = attempt(
        lambda stop, hearers: drive(accepted, post, carrier, stop, hearers),
        Progress(say, time.monotonic),
        Measured(time.monotonic),
    )
    sys.stdout.write(ended.ending.text() + "\n")
    return int(ended.code)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
