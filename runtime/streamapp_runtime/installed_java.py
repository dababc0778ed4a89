"""The Java of this machine that Spark runs on."""

import os
import shutil
from pathlib import Path


def find_java() -> str | None:
    """The Java that Spark's own scripts would take."""
    java_home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(java_home, "bin")) if java_home else None)
