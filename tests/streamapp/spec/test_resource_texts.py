import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.parser import ParseResult, parse
from streamapp.spec.text.loader import load_documents
from tests.harness.core.sample_resource import EVERYTHING, everything

SMALL = """\
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: small}
spec:
  systems: [{name: main, embedded: {path: ./data}}]
  streams: [{name: words, system: main}]
  operators: [{name: long, filter: {from: words, where: "true"}}]
"""


def _built(text: str) -> ParseResult:
    """The apps of a text, with nothing refused for want of a capability."""
    return parse(text)


def _said(text: str) -> list[str]:
    return [str(problem) for problem in parse(text).problems]


def test_yaml_and_json_of_one_app_are_equal() -> None:
    (from_yaml,), (from_json,) = _built(EVERYTHING).apps, _built(json.dumps(everything())).apps
    assert from_yaml == from_json


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + SMALL,
        SMALL.replace("\n", "\r\n"),
        "---\n" + SMALL + "...\n",
        "# a comment\n\n" + SMALL,
        "\ufeff " + json.dumps(load_documents(SMALL).documents[0].data, indent="\t"),
        "{apiVersion: streamapp.dev/v1alpha1, kind: StreamApp, metadata: {name: small}, spec: "
        "{systems: [{name: main, embedded: {path: ./data}}], streams: [{name: words, system: main}], "
        'operators: [{name: long, filter: {from: words, where: "true"}}]}}',
    ],
    ids=["byte order mark", "CRLF", "markers", "comment", "JSON with tabs", "YAML in braces"],
)
def test_forms_that_editors_and_tools_write_are_read(text: str) -> None:
    assert _built(text).apps == _built(SMALL).apps != ()


def test_several_documents_are_several_apps_and_empty_ones_are_passed_over() -> None:
    text = "---\n".join([SMALL, "", SMALL.replace("name: small", "name: other"), "# nothing\n"])
    assert [app.metadata.name for app in _built(text).apps] == ["small", "other"]


def test_json_objects_one_after_another_are_several_apps() -> None:
    one = json.dumps(load_documents(SMALL).documents[0].data)
    other = one.replace('"small"', '"other"')
    for between in ("", "\n", "\n---\n"):
        assert [app.metadata.name for app in _built(one + between + other).apps] == ["small", "other"]


def test_a_problem_tells_document_line_and_path() -> None:
    text = SMALL + "---\n" + SMALL.replace("from: words", "from: word")
    message = 'no stream or operator named "word"; did you mean "words"?'
    assert _said(text) == [f"document 2, line 15: spec.operators[0].filter.from: {message}"]
    assert [app.metadata.name for app in parse(text).apps] == ["small"]


def test_what_stands_before_a_broken_document_is_still_checked() -> None:
    text = SMALL.replace("from: words", "from: word") + "---\nkind: [StreamApp\n"
    first, second = _said(text)
    assert 'no stream or operator named "word"' in first
    assert second.startswith("line 10: this is no YAML: ")


@pytest.mark.parametrize("text", ["", " \n\n", "---\n---\n", "null", "# only a comment", "\ufeff"])
def test_a_text_without_anything_in_it_is_told_so(text: str) -> None:
    assert _said(text) == ["found nothing; a StreamApp has apiVersion, kind, metadata and spec"]


REFUSED = [
    ("- a\n", "line 1: found a list of 1 where a StreamApp is expected"),
    ("StreamApp", 'line 1: found the text "StreamApp" where a StreamApp is expected'),
    ("[]", "line 1: found a list of 0 where a StreamApp is expected"),
    ("kind:\n\t- a", "line 2: this is no YAML: a tab indents this line; YAML is indented by spaces"),
    ("kind: \0", "this is no YAML: unacceptable character #x0000: control characters are not allowed"),
    ("kind: \ud800", "line 1: this is no UTF-8 text; save the file with the encoding UTF-8"),
    ("kind: a\nkind: b", 'line 2: kind: the field "kind" occurs twice in one mapping'),
    ("kind: !!python/object:os.system x", 'line 1: the tag "tag:yaml.org,2002:python/object:os.system" is '
     "not allowed; leave it out"),
    ("kind: !!binary aGk=", 'line 1: the tag "tag:yaml.org,2002:binary" is not allowed; leave it out'),
    ("a: &a {b: c}\nd: {<<: *a}", "line 2: d: merging with << is not understood here; write the fields out"),
    ("a: &a [*a]", 'line 1: the alias "*a" is inside its own anchor, or has no anchor'),
    ("a: *b", 'line 1: the alias "*b" is inside its own anchor, or has no anchor'),
    ("? [a, b]\n: c", "line 1: a field's name must be a plain word, not a list, a mapping or an alias"),
    ("a: b: c", "line 1: this is no YAML: mapping values are not allowed in this context"),
    ('{"kind": "a" "b"}', "line 1: this is no JSON: Expecting ',' delimiter"),
    ('{"kind": NaN}', "this is no JSON: NaN is no value"),
    ('{"kind": 1e999}', 'the number "1e999" is too large'),
    ('{"kind": "\\ud800"}', "kind: holds half of a surrogate pair; write the character itself"),
    ("[" * 100_000, "line 1: nested more than 64 deep"),
    ("{a: " * 100_000, "line 1: nested more than 64 deep"),
    ('{"a":' * 100_000, "nested more than 64 deep"),
    ('{"a":' * 100 + "1" + "}" * 100, "nested more than 64 deep"),
    ("\n".join("  " * depth + "a:" for depth in range(100)), "line 65: nested more than 64 deep"),
    ("a" * 10 * 2**20, "found 10.0 MiB; a resource may have at most 4 MiB"),
    ("[" + "1," * 600_000 + "]", "line 1: more than 500,000 values, aliases counted each time"),
    ('{"a": [' + "1," * 600_000 + "1]}", "more than 500,000 values"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=range(len(REFUSED)))
def test_a_text_that_cannot_be_read_is_told_with_its_line_and_a_reason(text: str, message: str) -> None:
    assert message in _said(text)
    assert parse(text).apps == ()


def test_a_bomb_of_aliases_ends_at_the_limit() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 12)]
    assert _said("\n".join(lines)) == ["line 6: more than 500,000 values, aliases counted each time"]


def test_a_bomb_of_one_long_text_named_often_ends_at_the_limit() -> None:
    text = "a: &a " + "x" * 1_000_000 + "\nb: [" + "*a, " * 1_000 + "]"
    assert _said(text) == ["line 2: more than 4,194,304 characters, aliases counted each time"]


def test_an_alias_stands_for_what_it_names() -> None:
    text = SMALL.replace("name: words, system: main", "name: words, system: &main main")
    text = text.replace("{name: words", "{name: other, system: main}, {name: words", 1)
    assert len(parse(text).apps) == 1


def test_an_object_in_which_a_field_stands_twice_gives_no_app() -> None:
    text = json.dumps(load_documents(SMALL).documents[0].data).replace(
        '"kind"', '"kind": "StreamApp", "kind"'
    )
    assert _said(text) == ['kind: the field "kind" occurs twice in one object']
    assert parse(text).apps == ()


WORDS = [
    ("yes", True), ("Off", False), ("n", False), ("yEs", "yEs"), ("~", None), ("Null", None), ("null ", None),
    ("12", 12), ("-3", -3), ("+4", 4), ("010", 8), ("0x1F", 31), ("0b11", 3), ("0o17", 15), ("1_000", 1000),
    ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5), ("08", 8.0), ("1.2.3", "1.2.3"), ("0x", "0x"), ("1h", "1h"),
    ("2024-01-01", "2024-01-01"), ("'12'", "12"), ('"yes"', "yes"), ("!!str 12", "12"), (".inf", ".inf"),
    ("1e999", "1e999"),
]  # fmt: skip


@pytest.mark.parametrize(("word", "value"), WORDS)
def test_a_plain_word_means_what_a_cluster_takes_it_for(word: str, value: object) -> None:
    (document,) = load_documents(f"a: {word}").documents
    assert document.data["a"] == value
    assert type(document.data["a"]) is type(value)


@given(st.text(max_size=200))
def test_any_text_is_refused_or_read_without_an_exception(text: str) -> None:
    parsed = parse(text)
    assert not parsed.apps
    assert parsed.problems


@given(st.integers(0, len(EVERYTHING)), st.integers(0, 20), st.text(max_size=3))
def test_an_app_with_a_few_characters_replaced_is_read_without_an_exception(
    at: int, cut: int, put: str
) -> None:
    parsed = parse(EVERYTHING[:at] + put + EVERYTHING[at + cut :])
    assert parsed.apps or parsed.problems
    assert all("\n" not in str(problem) for problem in parsed.problems)
