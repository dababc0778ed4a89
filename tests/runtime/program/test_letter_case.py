"""Large and small letters are those of Spark, for every character there is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from streamapp_runtime.operators.stateless.letter_case import lower_case, upper_case
from tests.harness.machine.random_cases import share

CHARACTERS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000 and point != ord("\t")]
SIGMA = "\u03a3"


@pytest.mark.parametrize(
    "surrounding",
    [
        *("{}", f"a{SIGMA}{{}}", f"a{{}}{SIGMA}"),
        *(pytest.param(text, marks=pytest.mark.nightly) for text in (f"a{SIGMA}{{}}b", f"{{}}{SIGMA}")),
    ],
)
def test_every_character_has_the_case_that_it_has_in_spark(spark: SparkSession, surrounding: str) -> None:
    """Alone, and where it says whether a sigma is the last letter of its word."""
    text = "\t".join(surrounding.format(character) for character in CHARACTERS)
    for mine, of_spark in zip((upper_case(text), lower_case(text)), *by_spark(spark, [text]), strict=True):
        words = zip(mine.split("\t"), of_spark.split("\t"), CHARACTERS, strict=True)
        assert mine == of_spark, next(ascii(word) for word in words if word[0] != word[1])


WORDS = st.text(
    st.sampled_from("aA1 .'\u03a3\u03c3\u03c2\u0130\u00df\u0301\u00ad\u02b0\u0897\ua7da\u0295\U0001171e")
)


@given(st.lists(WORDS | st.text(), min_size=1, max_size=150))
@settings(max_examples=share(0.3))
def test_a_text_has_the_case_that_it_has_in_spark(spark: SparkSession, texts: list[str]) -> None:
    assert [(upper_case(text), lower_case(text)) for text in texts] == by_spark(spark, texts)


def by_spark(spark: SparkSession, texts: list[str]) -> list[tuple[str, str]]:
    rows = spark.createDataFrame([(text,) for text in texts], "text STRING")
    return [
        (row.large, row.small) for row in rows.selectExpr("upper(text) large", "lower(text) small").collect()
    ]
