"""Size alone is no mistake: what a file of four megabytes may hold is parsed, and told about, in one go."""

from collections.abc import Callable

from streamapp.spec.parser import parse

HEAD = """\
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: large}
spec:
  systems: [{name: main, embedded: {path: ./data}}]
  streams: [{name: words, system: main}]
  operators:
"""
COUNT = 10_000


def _large(entry: Callable[[int], str]) -> str:
    return HEAD + "".join(f"    - {entry(i)}\n" for i in range(COUNT))


def test_a_chain_of_ten_thousand_operators_is_an_app() -> None:
    text = _large(lambda i: f"{{name: o{i}, filter: {{from: {f'o{i - 1}' if i else 'words'}, where: 'a'}}}}")
    parsed = parse(text)
    assert parsed.problems == ()
    assert len(parsed.apps[0].spec.operators) == COUNT


def test_ten_thousand_unknown_names_are_all_told() -> None:
    text = _large(lambda i: f"{{name: o{i}, filter: {{from: word{i}, where: 'a'}}}}")
    messages = [problem.message for problem in parse(text).problems]
    assert len(messages) == COUNT
    assert messages[0] == 'no stream or operator named "word0"; did you mean "words"?'


def test_ten_thousand_operators_of_one_name_are_all_told() -> None:
    text = _large(lambda _: "{name: same, filter: {from: words, where: 'a'}}")
    assert len(parse(text).problems) == COUNT - 1
