"""The image of the tests' broker, made FROM the runtime's: its layers are on the nodes anyway."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.harness.kafka.jars import TO_BE_KILLED, jars

_HERE = Path(__file__).parent


def build_kafka(tag: str, runtime_image: str, flags: Sequence[str] = ()) -> None:
    """Build it under this tag."""
    with tempfile.TemporaryDirectory() as laid_out:
        context = Path(laid_out)
        for name in ("Dockerfile", "start", "kafka-topics"):
            shutil.copy(_HERE / name, context)
        shutil.copytree(jars(TO_BE_KILLED, _HERE / "pom.xml", "-tools"), context / "jars")
        build_on_runtime(context, tag, runtime_image, flags)


def build_on_runtime(context: Path, tag: str, runtime_image: str, flags: Sequence[str]) -> None:
    """Build an image that is made FROM that of the runtime."""
    command = ["docker", "build", *flags, "--build-arg", f"RUNTIME_IMAGE={runtime_image}", "-t", tag, "."]
    subprocess.run(command, cwd=context, check=True)


if __name__ == "__main__":
    build_kafka(sys.argv[1], sys.argv[2], sys.argv[3:])
