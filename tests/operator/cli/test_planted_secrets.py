"""Of a hundred planted secrets at most three come through, and few innocent lines are hidden."""

from pathlib import Path

import pytest

from streamapp.spec.redaction import Redaction
from streamapp_operator.cli.support_bundle.bundle_contents import BundleContents
from streamapp_operator.cli.support_bundle.bundle_index import redacted_bundle
from tests.operator.cli.planted_secrets import PlantedSecret, planted_secrets

INNOCENT_LINES = Path(__file__).with_name("innocent_lines.txt").read_text(encoding="utf-8").splitlines()


def written(planted: PlantedSecret) -> str:
    contents = BundleContents()
    contents.add("file", "a log or an object", planted.content)
    return redacted_bundle(contents, app="app", namespace="shop", made_at="2026-11-01T12:00:00Z").texts[
        "file"
    ]


def test_at_most_three_of_a_hundred_planted_secrets_come_through() -> None:
    planted = list(planted_secrets("a seed"))
    assert len(planted) == 100
    shown = [each.form for each in planted if each.shows_in(written(each))]
    assert len(shown) <= 3, shown


def test_at_most_one_innocent_line_in_a_hundred_is_hidden() -> None:
    assert len(INNOCENT_LINES) >= 1_000
    redaction = Redaction([])
    hidden = [line for line in INNOCENT_LINES if redaction.text(line) != line]
    assert len(hidden) <= len(INNOCENT_LINES) // 100, hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Authorization: ApiKey {0}", "Authorization: ***"),
        ('curl -H "Authorization: ApiKey {0}" http://orders', 'curl -H "Authorization: ***" http://orders'),
        ("amqp://shop:{0}@{0}@rabbit/a", "amqp://***@rabbit/a"),
    ],
)
def test_the_whole_of_a_header_and_of_a_user_is_hidden(text: str, hidden: str) -> None:
    assert Redaction([]).text(text.format("a1B2" * 3)) == hidden


def test_options_under_unknown_names_are_hidden_and_known_ones_stay() -> None:
    table = {
        "remote": {"options": {"url": "redis://cache", "salt": "x", "turn": "left", "pool": 5, "tls": True}}
    }
    hidden = {"url": "redis://cache", "salt": "***", "turn": "***", "pool": "***", "tls": True}
    assert Redaction([]).redacted(table) == {"remote": {"options": hidden}}
    config = {"config": {"linger.ms": "5", "x": "y"}}
    assert Redaction([]).redacted(config) == {"config": {"linger.ms": "5", "x": "***"}}
