from typing import Any

import pytest

from tests.harness.repository.checkout import REPOSITORY
from tests.vectors.case import GROUPS, Case
from tests.vectors.judging import NotJudged, Runner, judge, only_invariants, runner_of, weight


def case(strictness: str) -> Case:
    return Case("planner", {"id": "v", "strictness": strictness, "expect": {"exact": 1}})


def differs(vector: dict[str, Any]) -> list[str]:
    return ["differs"] if vector["expect"] else []


RUNNER = Runner(differs, ("tests/of/the/group.py",))


@pytest.mark.parametrize("strictness", ["must", "should", "seed-vs-shipped"])
def test_a_binding_vector_fails_even_when_it_was_decided_otherwise(strictness: str) -> None:
    assert judge(case(strictness), RUNNER, {"v": "we know better"}) == ["differs"]


@pytest.mark.parametrize("strictness", ["policy", "capability:standby", "shipped-design"])
def test_a_choice_fails_unless_its_reason_is_listed(strictness: str) -> None:
    assert judge(case(strictness), RUNNER, {}) == ["differs"]
    assert judge(case(strictness), RUNNER, {"v": "not needed"}) == NotJudged("decided otherwise: not needed")


def test_what_samza_happens_to_choose_is_judged_by_invariants_only() -> None:
    assert judge(case("shipped-exact"), RUNNER, {}) == []
    steps = {"steps": [{"expect": {"exact": 1, "invariants": ["complete"]}}]}
    assert only_invariants(steps) == {"steps": [{"expect": {"invariants": ["complete"]}}]}


def test_an_informational_vector_is_reported() -> None:
    assert judge(case("informational"), RUNNER, {}) == NotJudged("informational: differs")


def test_a_choice_in_words_that_the_group_does_not_know_may_be_decided_otherwise() -> None:
    unknown = Runner(lambda vector: [vector["nowhere"]], ())
    assert judge(case("capability:x"), unknown, {}) == ["cannot be run: KeyError('nowhere')"]
    assert judge(case("capability:x"), unknown, {"v": "no"}) == NotJudged("decided otherwise: no")


def test_a_recipe_names_what_covers_it() -> None:
    assert judge(case("property"), RUNNER, {}) == NotJudged("a recipe, covered by tests/of/the/group.py")


@pytest.mark.parametrize("group", GROUPS)
def test_the_recipes_of_a_group_are_property_tests_that_are_there(group: str) -> None:
    recipes = [REPOSITORY / recipe for recipe in runner_of(group).recipes]
    assert recipes
    for recipe in recipes:
        files = [recipe] if recipe.suffix else sorted(recipe.glob("test_*.py"))
        assert any("@given(" in file.read_text(encoding="utf-8") for file in files), recipe


def test_an_unknown_strictness_is_an_error() -> None:
    with pytest.raises(ValueError, match="no strictness 'perhaps'"):
        weight("perhaps")
