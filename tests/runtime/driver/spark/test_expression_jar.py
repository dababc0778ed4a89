"""The jar of the expression server: made once for each Spark, whole or not at all."""

from pathlib import Path
from zipfile import ZipFile

import pyspark
import pytest

from streamapp_runtime.driver.spark import expression_jar as module
from streamapp_runtime.driver.spark.expression_jar import (
    IMAGE_NAME,
    PLUGIN,
    ExpressionJarError,
    expression_jar,
)

JARS = Path(pyspark.__file__).with_name("jars")


def no_compiler(*_: object) -> None:
    raise AssertionError("it is compiled")


def test_the_jar_of_an_image_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_make", no_compiler)
    (tmp_path / IMAGE_NAME).write_bytes(b"")
    assert expression_jar(tmp_path) == tmp_path / IMAGE_NAME


@pytest.mark.usefixtures("process")
def test_it_is_compiled_once_and_has_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jar = expression_jar(JARS)
    assert jar is not None
    assert [file.name for file in jar.parent.iterdir()] == [jar.name]
    assert f"{PLUGIN.replace('.', '/')}.class" in ZipFile(jar).namelist()
    monkeypatch.setattr(module, "_make", no_compiler)
    assert expression_jar(JARS) == jar


@pytest.mark.usefixtures("process")
def test_a_spark_that_it_does_not_fit_is_told_with_the_compilers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "_SOURCES", tmp_path)
    (tmp_path / "Other.scala").write_text("object Other { org.apache.spark.sql.catalyst.Removed }")
    with pytest.raises(ExpressionJarError, match=r"(?s)has to follow its classes:.*Removed is not a member"):
        expression_jar(JARS)
    assert not list((tmp_path / "cache" / "streamapp" / "jars").iterdir())


@pytest.mark.usefixtures("process")
def test_where_nothing_can_be_kept_each_process_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    jar = expression_jar(JARS)
    assert jar is not None
    assert jar.parent.stat().st_mode & 0o077 == 0
