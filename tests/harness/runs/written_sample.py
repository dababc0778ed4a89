"""The sample of the examples on an embedded log."""

import subprocess
from pathlib import Path

from examples.sample_data import Sample
from tests.harness.runs.run_process import COMMAND


def written(sample_data: Sample, folder: Path) -> Path:
    """An embedded log in a folder, with the sample in it."""
    sample_data.write(folder)
    for stream, file in (("users", "users"), ("page-views", "views")):
        options = ["--key", "user", "--partitions", "4"]
        command = [COMMAND, "log", "write", folder / "data", stream, folder / f"{file}.jsonl", *options]
        subprocess.run(command, check=True, capture_output=True)
    return folder / "data"
