from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
Example = Callable[[str], Path]


def test_check_says_that_nothing_is_wrong(run: Run, example: Example) -> None:
    result = run("check", example("page-views") / "app.yaml")
    assert result.exit_code == 0
    assert result.output == "shop/page-views: 3 streams, 1 table, 4 operators: valid\n"


def test_check_tells_every_problem_with_its_line_and_ends_with_1(
    run: Run, example: Example, tmp_path: Path
) -> None:
    text = (example("page-views") / "app.yaml").read_text()
    broken = tmp_path / "app.yaml"
    broken.write_text(
        text.replace("table: users", "table: user").replace("processors: 4", "processors: four")
    )
    result = run("check", broken)
    assert result.exit_code == 1
    assert 'line 6: spec.processors: found the text "four" where a whole number is expected' in result.output
    assert 'spec.operators[2].joinTable.table: no table named "user"; did you mean "users"?' in result.output
    assert result.output.endswith(f"{broken}: 2 problems\n")


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("x = 1 /", "line 1: SyntaxError"),
        ("\n1 / 0\n", "line 2: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import no_such_module_anywhere", "ModuleNotFoundError"),
        ("x = 1", "no App at the top level; write `app = App(...)`"),
        ("from streamapp.dsl import App\napp = App('Bad_Name')", "metadata.name"),
    ],
)
def test_a_program_that_fails_is_told_by_its_own_line(
    run: Run, tmp_path: Path, program: str, said: str
) -> None:
    source = tmp_path / "app.py"
    source.write_text(program)
    result = run("check", source)
    assert result.exit_code == 1
    assert said in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("module", "program", "message"),
    [
        ("\ndef f(:\n", "{}", "line 1: SyntaxError: invalid syntax (line 2 of {}.py)"),
        ("\n\n1 / 0\n", "{}", "line 1: ZeroDivisionError: division by zero (line 3 of {}.py)"),
        ("import no_such_module_anywhere", "{}", "'no_such_module_anywhere' (line 1 of {}.py)"),
        ("def g():\n    return {}['a']\n", "{}\n{}.g()", "line 2: KeyError: 'a' (line 2 of {}.py)"),
    ],
)
def test_what_fails_in_a_module_beside_the_program_is_reported_with_both_lines(
    run: Run, tmp_path: Path, module: str, program: str, message: str
) -> None:
    name = f"beside_{tmp_path.name.replace('-', '_')}"  # a module is imported once by this process
    (tmp_path / f"{name}.py").write_text(module)
    source = tmp_path / "app.py"
    source.write_text("import " + program.replace("{}", name))
    result = run("check", source)
    assert result.exit_code == 1
    assert message.replace("{}", name) in result.output


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x00" * 10, b"a" * 10_000_000, b"", b"{" * 5_000])
def test_bytes_that_are_no_resource_end_with_1_and_a_sentence(
    run: Run, tmp_path: Path, content: bytes
) -> None:
    source = tmp_path / "app.yaml"
    source.write_bytes(content)
    result = run("check", source)
    assert result.exit_code == 1
    assert "1 problem" in result.output


def test_a_folder_in_place_of_a_file_ends_with_2(run: Run, tmp_path: Path) -> None:
    result = run("check", tmp_path)
    assert result.exit_code == 2
    assert "cannot read" in result.output


def test_render_prints_the_one_form_of_program_and_resource(run: Run, example: Example) -> None:
    folder = example("page-views")
    program, resource = run("render", folder / "app.py"), run("render", folder / "app.yaml")
    assert program.exit_code == 0
    assert program.output == resource.output
    assert run("render", "-", given=program.output).output == program.output
