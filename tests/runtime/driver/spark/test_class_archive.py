"""Archives of classes: made from what a JVM has loaded, used by the next one, and never a reason to fail.

The JVM of most tests is that of Spark's launcher, which begins and ends in a moment; of its few classes an
archive is made in seconds.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyspark
import pytest

from streamapp_runtime.driver.spark.class_archive import FOLDER, OFF, ClassArchive, JvmRole
from streamapp_runtime.driver.spark.class_archive_making import (
    MOST_ARCHIVES,
    UNUSED_SECONDS,
    loaded_classes,
    make,
)
from streamapp_runtime.driver.spark.expression_jar import expression_jar
from streamapp_runtime.driver.spark.java_command import ARCHIVE_MODULES, spark_jars
from streamapp_runtime.installed_java import find_java

JARS = spark_jars(Path(pyspark.__file__).with_name("jars"))
MAIN = "org.apache.spark.launcher.Main"
ROLE = JvmRole.EXECUTOR
SPARK_RUN = """
import sys
from pathlib import Path
from pyspark import SparkContext
from pyspark.sql import SparkSession
from streamapp_runtime.driver.spark.spark_session import close_session, open_session

session = open_session("archives", 1)
rows = SparkSession.builder.getOrCreate().range(10)
assert rows.mapInArrow(lambda batches: batches, "id long").count() == 10
maps = Path("/proc", str(SparkContext._gateway.proc.pid), "maps").read_text()
print("mapped" if "/local-" in maps else "not mapped")
close_session(session)
"""


def _java() -> str:
    java = find_java()
    assert java is not None
    return java


def _archive(monkeypatch: pytest.MonkeyPatch, folder: Path, jars: Sequence[str] = JARS) -> ClassArchive:
    monkeypatch.setenv(FOLDER, str(folder))
    monkeypatch.delenv(OFF, raising=False)
    archive = ClassArchive.of(ROLE, _java(), jars)
    assert archive is not None
    return archive


def _run(archive: ClassArchive, jars: Sequence[str] = JARS) -> str:
    """A short JVM with the archive's options; where each class came from."""
    log = archive.folder.parent / "loaded"
    options = [*archive.options(), f"-Xlog:class+load:file={log}", *ARCHIVE_MODULES]
    command = [_java(), "-cp", os.pathsep.join(jars), *options, MAIN, "org.apache.spark.deploy.SparkSubmit"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    words = ran.stdout.replace("Usage", "").lower() + ran.stderr.lower()
    assert "cds" not in words and "archive" not in words.replace("--archives", ""), "it says nothing of it"
    return log.read_text()


def _from_archive(loaded: str) -> bool:
    source = next(line for line in loaded.splitlines() if f" {MAIN} " in line)
    return "shared objects file" in source


def _with_last_class(archive: ClassArchive) -> None:
    """A list as a run leaves one that came to a first batch."""
    (archive.folder / f"{archive.name}.pid1.classes").write_text(f"{ROLE.last_class}\n")


@pytest.fixture(scope="module")
def made_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which an archive has been made."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        archive = _archive(monkeypatch, tmp_path_factory.mktemp("made") / "classes")
        assert not _from_archive(_run(archive))
        _with_last_class(archive)
        make(archive, _java(), JARS)
        return archive.folder


@pytest.fixture
def archive(made_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ClassArchive:
    """An archive that has been made, in a folder of the test's own."""
    return _archive(monkeypatch, shutil.copytree(made_folder, tmp_path / "classes"))


@pytest.mark.usefixtures("process")
def test_what_one_jvm_has_loaded_the_next_one_takes_from_the_archive(archive: ClassArchive) -> None:
    assert archive.is_whole
    assert {file.suffix for file in archive.folder.iterdir()} == {".jsa", ".size", ".lock", ""}
    assert _from_archive(_run(archive))


@pytest.mark.usefixtures("process")
def test_an_archive_that_was_cut_short_is_not_taken(archive: ClassArchive) -> None:
    os.truncate(archive.file, archive.file.stat().st_size // 2)
    assert not _from_archive(_run(archive))
    assert archive.class_lists(), "and the next run makes it anew"


@pytest.mark.usefixtures("process")
def test_an_archive_of_something_else_does_no_harm(archive: ClassArchive) -> None:
    with archive.file.open("r+b") as opened:
        opened.write(b"\0" * 4096)
    assert archive.is_whole
    assert not _from_archive(_run(archive))


def test_classes_are_listed_without_their_numbers_and_without_those_that_spark_generates(
    tmp_path: Path,
) -> None:
    class_list = tmp_path / "of-java-25.classes"
    generated = "org/apache/spark/sql/GeneratedClass"
    class_list.write_text(
        f"java/lang/Object id: 0\n{generated} id: 7 super: 0 source: /a.jar\n@cp java/lang/Object 2 4\n"
    )
    assert loaded_classes(class_list) == ["java/lang/Object", "@cp java/lang/Object 2 4"]


@pytest.mark.usefixtures("process")
def test_other_jars_have_another_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jars = [str(tmp_path / "a.jar"), str(tmp_path / "b.jar")]
    for jar in jars:
        Path(jar).write_bytes(b"jar")
    names = {_archive(monkeypatch, tmp_path, jars).name, _archive(monkeypatch, tmp_path, jars[::-1]).name}
    Path(jars[0]).write_bytes(b"another jar")
    names.add(_archive(monkeypatch, tmp_path, jars).name)
    assert len(names) == 3


def test_archives_can_be_turned_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "classes"))
    monkeypatch.setenv(OFF, "1")
    assert ClassArchive.of(ROLE, _java(), JARS) is None


@pytest.mark.usefixtures("process")
def test_without_a_place_to_write_there_is_no_archive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "home").write_text("no folder")
    assert _archive(monkeypatch, tmp_path / "home" / "classes").options() == ()


@pytest.mark.usefixtures("process")
def test_a_start_that_came_to_nothing_makes_no_archive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = _archive(monkeypatch, tmp_path / "classes")
    _run(archive)
    make(archive, _java(), JARS)
    assert not archive.file.exists()
    assert archive.class_lists() == []


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_two_runs_that_end_at_once_make_one_archive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archive = _archive(monkeypatch, tmp_path / "classes")
    _run(archive)
    _with_last_class(archive)
    module = "streamapp_runtime.driver.spark.class_archive_making"
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        place = [str(archive.folder), archive.role.value, archive.digest, str(ended.pid)]
    makers = [subprocess.Popen([sys.executable, "-m", module, *place, _java(), *JARS]) for _ in range(2)]
    assert [maker.wait() for maker in makers] == [0, 0]
    assert archive.is_whole
    assert _from_archive(_run(archive))


@pytest.mark.usefixtures("process")
def test_archives_are_removed_that_are_unused_or_too_many(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = _archive(monkeypatch, tmp_path / "classes")
    _run(archive)
    _with_last_class(archive)
    others = [archive.folder / f"driver-{number}.jsa" for number in range(MOST_ARCHIVES + 1)]
    for age, other in enumerate(others, 1):
        other.write_bytes(b"archive")
        last_use = time.time() - 60 * age
        os.utime(other, (last_use, last_use))
    os.utime(others[3], (0, time.time() - UNUSED_SECONDS - 60))
    make(archive, _java(), JARS)
    left = {file.name for file in archive.folder.glob("*.jsa")}
    youngest = [*others[:3], *others[4:MOST_ARCHIVES]]
    assert left == {archive.file.name, *(other.name for other in youngest)}


@pytest.mark.usefixtures("process")
def test_without_the_classes_of_expressions_the_next_run_tries_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = _archive(monkeypatch, tmp_path / "classes")
    for is_recorded in (False, True):
        _run(archive)
        _with_last_class(archive)
        make(archive, _java(), JARS, lambda recorded=is_recorded: recorded)
        assert archive.is_whole == is_recorded
        assert archive.class_lists() == []


@pytest.mark.usefixtures("process")
def test_a_failure_to_make_one_is_not_repeated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    archive = _archive(monkeypatch, tmp_path / "classes")
    _run(archive)
    _with_last_class(archive)
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    java.chmod(0o700)
    make(archive, str(java), JARS)
    assert not archive.file.exists()
    assert archive.failure_file.exists()
    assert archive.options() == ()


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_spark_starts_with_an_archive_that_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "classes"))
    archive = ClassArchive.of(JvmRole.LOCAL, _java(), _all_jars())
    assert archive is not None
    archive.folder.mkdir()
    archive.file.write_text("no archive at all")
    archive.size_file.write_text(str(archive.file.stat().st_size))
    assert _spark_run().splitlines() == ["not mapped"]


@pytest.mark.long
def test_the_second_run_of_spark_takes_the_archive_that_the_first_one_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "classes"))
    archive = ClassArchive.of(JvmRole.LOCAL, _java(), _all_jars())
    assert archive is not None
    assert _spark_run().splitlines() == ["not mapped"]
    make(archive, _java(), _all_jars())  # or wait for the process that does
    assert archive.is_whole
    assert _spark_run().splitlines() == ["mapped"]


def _all_jars() -> tuple[str, ...]:
    """The jars of a JVM: Spark's, and that of the expression server."""
    folder = Path(pyspark.__file__).with_name("jars")
    return tuple(sorted((*spark_jars(folder), str(expression_jar(folder)))))


def _spark_run() -> str:
    ran = subprocess.run([sys.executable, "-c", SPARK_RUN], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
