"""Code that an app names and this machine has not is a warning of `check` and `plan`; none of it is run."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from streamapp.cli.main import root

APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: shop}
spec:
  systems: [{name: main, embedded: {path: data}}]
  streams: [{name: views, system: main, columns: "user STRING"}, {name: clean, system: main}]
  operators:
    - {name: cleaned, map: {from: views, python: "%s", columns: user STRING}}
    - {name: out, sendTo: {from: cleaned, stream: clean}}
"""
CODE = """
raise SystemExit("this module is not to be run")
import shop.other as other
from math import *one*
if True:
    def hidden(batch): ...
try:
    (first, second), third = (1, 2), 3
except ImportError:
    fallback = None
class Scores:
    inner = 1
"""


def warned(folder: Path, python: str, verb: str = "check") -> list[str]:
    file = folder / "app.yaml"
    file.write_text(APP % python)
    package = folder / "shop"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("raise SystemExit('nor is this package')")
    (package / "views.py").write_text(CODE.replace("from math import *one*", "from math import floor"))
    (package / "open.py").write_text("from math import *\n")
    (package / "lazy.py").write_text("def __getattr__(name): ...\n")
    options = [] if verb == "check" else ["--set", "views=2"]
    done = CliRunner().invoke(root, [verb, str(file), *options])
    assert done.exit_code == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "warning" in line]


@pytest.mark.parametrize("verb", ["check", "plan"])
@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("shop.views:Score", 'shop.views has no Score; did you mean "Scores"?'),
        ("shop.views:inner", "shop.views has no inner"),
        ("shop.veiws:Scores", "shop has no module veiws on this machine"),
        (
            "elsewhere.views:Scores",
            "no module elsewhere on this machine; look whether the app's image holds it",
        ),
    ],
)
def test_what_is_missing_is_named_with_its_line(tmp_path: Path, verb: str, python: str, words: str) -> None:
    (line,) = warned(tmp_path, python, verb)
    assert "line 9: spec.operators[0].map.python: " in line
    assert words in line


@pytest.mark.parametrize(
    "python",
    [
        *(
            f"shop.views:{name}"
            for name in ("Scores", "hidden", "first", "third", "fallback", "floor", "other")
        ),
        *("shop.open:anything", "shop.lazy:anything", "math:anything", "json.decoder:JSONDecoder"),
    ],
)
def test_what_is_there_or_may_be_is_no_warning(tmp_path: Path, python: str) -> None:
    assert warned(tmp_path, python) == []
