"""promtool, by which Prometheus itself judges rules."""

import subprocess
from pathlib import Path
from typing import Any

import yaml


def check_rules(program: Path, groups: Any, folder: Path) -> str:
    """What promtool finds wrong with groups of rules; empty where that is nothing."""
    rules = folder / "rules.yaml"
    rules.write_text(yaml.safe_dump({"groups": groups}), encoding="utf-8")
    return _complaint(program, "check", "rules", "--lint-fatal", rules)


def run_rules(program: Path, groups: Any, tests: list[dict[str, Any]], folder: Path) -> str:
    """What promtool says of tests of rules that fail; empty where none does."""
    (folder / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}), encoding="utf-8")
    given = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": tests}
    (folder / "tests.yaml").write_text(yaml.safe_dump(given), encoding="utf-8")
    return _complaint(program, "test", "rules", folder / "tests.yaml")


def _complaint(program: Path, *words: str | Path) -> str:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr
