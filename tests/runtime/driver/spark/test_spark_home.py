import os
import subprocess
import sys
from pathlib import Path

import pytest

SETTLED = """
import os
from streamapp_runtime.driver.spark.spark_home import prepare_spark_home
prepare_spark_home()
print(os.environ["SPARK_HOME"])
print(*sorted(os.listdir(os.environ["SPARK_HOME"])))
"""


def _settled(**more: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"} | more
    ran = subprocess.run(
        [sys.executable, "-c", SETTLED], env=environment, capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


@pytest.mark.usefixtures("process")
def test_spark_works_in_a_folder_of_the_process_and_not_where_it_is_installed(tmp_path: Path) -> None:
    folder, parts = _settled(TMPDIR=str(tmp_path))
    assert Path(folder).parent == tmp_path
    assert {"bin", "jars"} <= set(parts.split())
    assert list(tmp_path.iterdir()) == [], "it goes with the process"


@pytest.mark.usefixtures("process")
def test_a_spark_that_the_user_names_is_taken_as_it_is(tmp_path: Path) -> None:
    tmp_path.joinpath("bin").mkdir()
    assert _settled(SPARK_HOME=str(tmp_path)) == [str(tmp_path), "bin"]
