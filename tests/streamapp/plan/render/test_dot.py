import re

from hypothesis import given

from streamapp.plan.planner import plan
from streamapp.plan.render import dot
from tests.harness.graphs.conflicting_joins import eight_and_six
from tests.harness.graphs.wild_graphs import NAMES


@given(NAMES)
def test_whatever_a_text_is_it_stays_within_its_quotes(text: str) -> None:
    quoted = dot.quoted(text)
    assert re.fullmatch(r'"(?:[^"\\]|\\["\\])*"', quoted, re.DOTALL)
    assert re.sub(r"\\(.)", r"\1", quoted[1:-1]) == text


def test_what_fails_is_red_and_marked() -> None:
    shown = dot.render("page-views", eight_and_six(), plan(eight_and_six()))
    assert shown.startswith('digraph "page-views" {')
    (join,) = (line for line in shown.splitlines() if "joinTable\\njoined" in line)
    assert 'label="✗ joinTable\\njoined  [6 ≠ 8]"' in join
    assert 'color="#cf222e"' in join
    assert sum("->" in line and "#cf222e" in line for line in shown.splitlines()) == 4
