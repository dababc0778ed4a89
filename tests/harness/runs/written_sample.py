"""The sample of the examples on an embedded log."""

from pathlib import Path

from click.testing import CliRunner

from examples.sample_data import Sample
from streamapp_runtime.cli.log import log


def written(sample_data: Sample, folder: Path) -> Path:
    """An embedded log in a folder, with the sample in it."""
    sample_data.write(folder)
    for stream, file in (("users", "users"), ("page-views", "views")):
        words = ["write", str(folder / "data"), stream, str(folder / f"{file}.jsonl"), "--key", "user"]
        assert CliRunner().invoke(log, [*words, "--partitions", "4"]).exit_code == 0
    return folder / "data"
