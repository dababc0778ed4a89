import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import Column, ColumnListError, parse_columns, quote
from tests.harness.core.sample_resource import changed, told


def test_a_column_list_is_read_with_types_in_one_spelling() -> None:
    text = (
        "user string, n Decimal( 10 , 2 ) NOT NULL COMMENT 'how, many', "
        "`a b` array<struct<x:int,y map<string,int>>>"
    )
    assert parse_columns(text) == (
        Column("user", "STRING"),
        Column("n", "DECIMAL(10, 2)", nullable=False),
        Column("a b", "ARRAY<STRUCT<x: INT, y: MAP<STRING, INT>>>"),
    )


def test_names_in_backquotes_may_hold_anything_and_be_words_of_the_grammar() -> None:
    names = [column.name for column in parse_columns("`a``b` INT, `,` INT, `x:y` INT, array INT, `not` INT")]
    assert names == ["a`b", ",", "x:y", "array", "not"]


@pytest.mark.parametrize("comment", ["'it''s'", r"'it\'s'", '"double"', "''", "'a, b INT'"])
def test_a_comment_may_hold_quotes_and_commas(comment: str) -> None:
    assert parse_columns(f"a INT COMMENT {comment}, b INT") == (Column("a", "INT"), Column("b", "INT"))


def test_a_struct_says_which_of_its_fields_are_never_null() -> None:
    (column,) = parse_columns("s STRUCT<`a b`: INT NOT NULL COMMENT 'x', c STRING>")
    assert column.type == "STRUCT<`a b`: INT NOT NULL, c: STRING>"


WRONG = [
    ("a", "the column list ends where a type such as STRING, BIGINT or ARRAY<STRING> is expected"),
    (
        "a INT,",
        "the column list ends where a column name (in backquotes if it is no plain word) is expected",
    ),
    (
        ", a INT",
        "found , at character 1 where a column name (in backquotes if it is no plain word) is expected",
    ),
    ("a STRNG", '"STRNG" at character 3 is no type; did you mean "STRING"?'),
    ("a INT b INT", 'found b at character 7 where "," is expected'),
    ("a ARRAY", 'the column list ends where "<" is expected'),
    ("a ARRAY<INT", 'the column list ends where ">" is expected'),
    ("a MAP<INT>", 'found > at character 10 where "," is expected'),
    ("a STRUCT<x INT", 'the column list ends where "," or ">" is expected'),
    ("a INT>", 'found > at character 6 where "," is expected'),
    ("a INT NOT", 'the column list ends where "NULL" is expected'),
    ("a INT COMMENT b", "found b at character 15 where a comment in quotes is expected"),
    ("a INT COMMENT 'b", "the quote ' at character 15 is not closed"),
    ("`a INT", "the quote ` at character 1 is not closed"),
    ("a INT, A STRING", 'column "A" occurs twice (Spark ignores case)'),
    ("a DECIMAL()", "found ) at character 11 where a number of at most 9 digits is expected"),
    ("a DECIMAL(1,2,3)", "DECIMAL takes at most two numbers in brackets, found 3"),
    (
        "a DECIMAL(39)",
        "DECIMAL(39) is no decimal: it takes 1 to 38 digits, of which no more than all are decimals",
    ),
    (
        "a DECIMAL(2,3)",
        "DECIMAL(2, 3) is no decimal: it takes 1 to 38 digits, of which no more than all are decimals",
    ),
    ("a VARCHAR", "VARCHAR takes one number in brackets, found 0"),
    ("a DECIMAL(٣)", "found ٣ at character 11 where a number of at most 9 digits is expected"),
    ("a INT(3)", 'found ( at character 6 where "," is expected'),
    (
        "1a INT",
        "found 1 at character 1 where a column name (in backquotes if it is no plain word) is expected",
    ),
    ("a " + "ARRAY<" * 40, "types are nested more than 32 deep"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_column_list_that_does_not_parse_is_told_with_the_place_and_what_may_stand_there(
    text: str, message: str
) -> None:
    with pytest.raises(ColumnListError) as refused:
        parse_columns(text)
    assert str(refused.value) == message


def test_the_message_stands_at_the_field_that_holds_the_list() -> None:
    assert told(changed("spec.streams[2].columns", "user STRNG")) == [
        'spec.streams[2].columns: "STRNG" at character 6 is no type; did you mean "STRING"?'
    ]


@pytest.mark.parametrize("piece", ["\\'", "`a``b`", "'", "`", "``", '"', "'\\", "a INT,", "ARRAY<", "\\"])
def test_sixty_thousand_characters_of_quotes_end_in_a_message(piece: str) -> None:
    with pytest.raises(ColumnListError):
        parse_columns("a INT COMMENT '" + piece * (60_000 // len(piece)))


@given(st.text())
def test_any_text_is_columns_or_a_message(text: str) -> None:
    try:
        assert parse_columns(text)
    except ColumnListError as error:
        assert str(error)


names = st.one_of(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,5}", fullmatch=True), st.text(min_size=1, max_size=4)
)
plain_types = st.sampled_from(
    ["STRING", "INT", "BIGINT", "TIMESTAMP", "DOUBLE", "DECIMAL", "DECIMAL(10)", "DECIMAL(38, 38)", "CHAR(3)"]
)


def _struct(fields: list[tuple[str, str, bool]]) -> str:
    return (
        "STRUCT<" + ", ".join(f"{quote(n)}: {t}{'' if null else ' NOT NULL'}" for n, t, null in fields) + ">"
    )


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    fields = st.lists(st.tuples(names, inner, st.booleans()), min_size=1, max_size=3)
    return st.one_of(
        inner.map(lambda t: f"ARRAY<{t}>"),
        st.tuples(inner, inner).map(lambda pair: f"MAP<{pair[0]}, {pair[1]}>"),
        fields.map(_struct),
    )


types = st.recursive(plain_types, _nested, max_leaves=6)
columns = st.builds(Column, names, types, st.booleans())
comments = st.one_of(st.just(""), st.text(max_size=5).map(lambda t: " COMMENT '" + _escaped(t) + "'"))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


@given(st.lists(st.tuples(columns, comments), min_size=1, max_size=5, unique_by=lambda c: c[0].name.lower()))
def test_a_column_list_that_was_written_is_read_back(written: list[tuple[Column, str]]) -> None:
    text = ", ".join(
        f"{quote(c.name)} {c.type}{'' if c.nullable else ' NOT NULL'}{comment}" for c, comment in written
    )
    assert parse_columns(text) == tuple(column for column, _ in written)
