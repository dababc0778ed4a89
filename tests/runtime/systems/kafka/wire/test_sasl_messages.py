"""The messages of a login by SCRAM, as the standard has them."""

import pytest

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.requests.sasl_login import LoginRefusedError, scram_messages

NONCE = "rOprNGfwEbeRWgbNEkqO"
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
PROOF = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
ANSWER = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_the_example_of_rfc_7677() -> None:
    messages = scram_messages("sha256", "user", "pencil", NONCE)
    assert next(messages) == b"n,,n=user,r=" + NONCE.encode()
    assert messages.send(CHALLENGE) == PROOF
    with pytest.raises(StopIteration):
        messages.send(ANSWER)


def test_a_broker_that_does_not_know_the_password_is_not_believed() -> None:
    messages = scram_messages("sha256", "user", "pencil", NONCE)
    next(messages)
    messages.send(CHALLENGE)
    with pytest.raises(LoginRefusedError, match="does not prove"):
        messages.send(ANSWER.replace(b"6rri", b"7rri"))


def test_a_user_name_may_have_any_characters() -> None:
    assert next(scram_messages("sha512", "a=b,c", "x", NONCE)).startswith(b"n,,n=a=3Db=2Cc,r=")


def test_challenges_that_no_broker_sends_are_refused() -> None:
    challenges = [
        b"",
        b"\xff",
        b"r=" + NONCE.encode() + b"x,s=W22ZaJ0S",
        CHALLENGE.replace(b"i=4096", b"i=1"),
        CHALLENGE.replace(b"i=4096", b"i=99999999"),
        CHALLENGE.replace(b"i=4096", b"i=x"),
        CHALLENGE.replace(b"s=W22", b"s=*"),
        CHALLENGE.replace(b"r=rOpr", b"r=other"),
        b"r=" + NONCE.encode() + b",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    ]
    for challenge in challenges:
        messages = scram_messages("sha256", "user", "pencil", NONCE)
        next(messages)
        with pytest.raises(MalformedError):
            messages.send(challenge)
