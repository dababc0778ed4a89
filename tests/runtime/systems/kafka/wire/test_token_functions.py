"""A function of the app's own that gives tokens: asked again in time, and told of where it fails."""

import time

import pytest

from streamapp_runtime.systems.kafka.wire.requests.oauth_tokens import (
    TokenFunction,
    TokenFunctionError,
    TokenSource,
)

HERE = __name__
SECRET = "correct-horse"  # noqa: S105
CALLS: list[float] = []


def short_lived() -> tuple[str, float]:
    CALLS.append(time.time())
    return f"token-{len(CALLS)}", time.time() + (0.0005 if len(CALLS) == 1 else 300)


def ended() -> tuple[str, float]:
    return SECRET, time.time() - 1


def raising() -> tuple[str, float]:
    raise ValueError(SECRET)


def unreachable() -> tuple[str, float]:
    raise ConnectionError(SECRET)


def ending() -> tuple[str, float]:
    raise SystemExit(SECRET)


def unprintable() -> tuple[str, float]:
    return f"{SECRET}\x01auth=other", time.time() + 300


def no_pair() -> str:
    return SECRET


def test_a_token_is_used_until_most_of_its_time_is_over() -> None:
    CALLS.clear()
    source = TokenSource(TokenFunction(f"{HERE}:short_lived").fetch)
    assert source.token() == "token-1"
    while source.token() == "token-1":
        pass
    assert [source.token(), source.token()] == ["token-2", "token-2"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ended", "gives no token that is still good"),
        ("raising", "failed: ValueError"),
        ("ending", "failed: SystemExit"),
        ("no_pair", "failed: ValueError"),
        ("unprintable", "gives no token that is still good"),
        ("missing", "failed: AttributeError"),
    ],
)
def test_a_function_that_gives_no_token_is_told_without_its_words(name: str, message: str) -> None:
    with pytest.raises(TokenFunctionError) as refusal:
        TokenFunction(f"{HERE}:{name}").fetch()
    assert str(refusal.value) == f"the token function {HERE}:{name} {message}"


def test_a_module_that_is_not_there_is_told() -> None:
    with pytest.raises(TokenFunctionError, match=r"nowhere\.at\.all:token failed: ModuleNotFoundError"):
        TokenFunction("nowhere.at.all:token").fetch()


def test_an_identity_service_that_cannot_be_reached_is_an_outage() -> None:
    with pytest.raises(OSError, match=f"^the token function {HERE}:unreachable failed: ConnectionError$"):
        TokenFunction(f"{HERE}:unreachable").fetch()
