"""The page of the Nexmark queries shows each app, its SQL and its Python as they are in the examples."""

import re
from pathlib import Path
from textwrap import dedent

from bench.nexmark.nexmark_queries import FOLDER, QUERIES

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "nexmark.md").read_text("utf-8")
LAST_QUERY = 23


def test_each_query_is_shown_with_its_sql_and_with_what_its_app_has_beside_streams() -> None:
    for query in QUERIES.values():
        assert f"```sql\n{query.sql}```\n" in PAGE
        source = f"`examples/nexmark/{query.name}.yaml`, below its streams:"
        text = (FOLDER / f"{query.name}.yaml").read_text("utf-8")
        _, own = re.split(r"^(?=  (?:tables|operators):\n)", text, maxsplit=1, flags=re.M)
        assert f"{source}\n\n```yaml\n{dedent(own)}```\n" in PAGE
    code = (FOLDER / "last_bids.py").read_text("utf-8")
    assert f'```python title="examples/nexmark/last_bids.py"\n{code}```\n' in PAGE


def test_the_front_page_has_the_figures_and_titles_of_the_page() -> None:
    front = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    titles = dict(re.findall(r"^\| \[(q\d+)\]\(#q\d+\) \| ([^|]+) \|", PAGE, re.M))
    figures = dict(re.findall(r"^\| (q\d+) (\| \d+ \|.*) \|$", PAGE.partition("### Beside other engines")[2], re.M))
    rows = re.findall(r"^\| (q\d+) \| ([^|]+) (\| \d+ \|.*) \|$", front, re.M)
    assert len(rows) > 5
    for query, title, shown in rows:
        assert (title, shown) == (titles[query], re.sub(r" \([0-9.]+\)", "", figures[query]))


def test_every_query_of_nexmark_is_an_app_or_named_with_what_is_missing() -> None:
    apps = {query.number for query in QUERIES.values()}
    _, missing = PAGE.split("## Queries that have no app\n")
    named = set(re.findall(r"\bq[0-9]+\b", missing))
    assert apps | named == {f"q{number}" for number in range(LAST_QUERY + 1)}
    assert not apps & named


def test_every_file_of_the_examples_belongs_to_a_query() -> None:
    names = {f"{query.name}.yaml" for query in QUERIES.values()}
    names |= {f"{query.number}.sql" for query in QUERIES.values()}
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == names | {"last_bids.py", "README.md"}
