import ast
import re
import tomllib

from tests.harness.repository.checkout import REPOSITORY, files

# Written so that no line of this file is one that it looks for.
HOSTS = re.compile(
    r"(pypi[.]org|pythonhosted[.]org|docker[.]io|ghcr[.]io|quay[.]io|gcr[.]io|registry[.]k8s|npmjs[.]org"
    r"|mirror[s]?[.]|artifact(ory|s)[.]|nexus[.]|proxy[.]golang|repo1?[.]maven|index-ur[l]|extra-inde[x])",
    re.I,
)
FOLDERS = re.compile(r"(?<![\w.~}/-])/(home|root|Users|work|mnt|workspace)/[\w.-]")


def _lines() -> list[tuple[str, str]]:
    found = []
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        name = str(path.relative_to(REPOSITORY))
        found += [(f"{name}:{number}", line) for number, line in enumerate(text.splitlines(), start=1)]
    return found


def test_no_file_names_a_package_or_image_registry() -> None:
    assert [place for place, line in _lines() if HOSTS.search(line)] == []


def test_no_file_holds_a_path_of_someones_machine() -> None:
    assert [place for place, line in _lines() if FOLDERS.search(line)] == []


def test_the_patterns_find_what_they_are_for() -> None:
    assert HOSTS.search("https://py" + "pi.org/simple")
    assert HOSTS.search("image: ghcr" + ".io/a/b:1")
    assert FOLDERS.search("open('/ho" + "me/me/file')")
    assert not FOLDERS.search("docs/work/index.md and $HOME/work/x")


def test_every_module_says_what_it_is_for() -> None:
    """Tests say it by their names; a package whose file is empty by its own name."""
    silent = [
        str(path.relative_to(REPOSITORY))
        for path in files("*.py")
        if not path.name.startswith("test_")
        and (tree := ast.parse(path.read_text(encoding="utf-8"))).body
        and not ast.get_docstring(tree)
    ]
    assert silent == []


def test_no_file_has_a_name_that_says_nothing() -> None:
    banned = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
    assert [str(path) for path in files("*.py") if path.stem in banned] == []


def test_the_folder_of_the_operator_is_no_package() -> None:
    """The standard library has a module of that name, which a package here would hide."""
    assert not (REPOSITORY / "operator" / "__init__.py").exists()
    assert (REPOSITORY / "operator" / "streamapp_operator" / "__init__.py").exists()


def test_every_folder_of_tests_is_collected() -> None:
    """pytest is given the folders one by one, so that those that start servers come first."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(project["tool"]["pytest"]["ini_options"]["testpaths"])
    folders = {
        "/".join(path.relative_to(REPOSITORY).parts[:2])
        for path in files("*.py")
        if path.name.startswith("test_")
    }
    assert listed == folders - {"tests/e2e"}  # `make e2e` names it
