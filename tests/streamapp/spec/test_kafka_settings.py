import pytest

from streamapp.spec.resource.kafka_settings import (
    ALLOWED,
    SECRET,
    TOKEN_FUNCTION,
    refused_secret,
    refused_settings,
)


@pytest.mark.parametrize(
    "name",
    [
        "plugin.library.paths",
        "sasl.kerberos.kinit.cmd",
        "ssl.key.location",
        "ssl.engine.location",
        "isolation.level",
    ],
)
@pytest.mark.parametrize("secret", [True, False])
def test_what_loads_libraries_runs_commands_reads_files_or_is_the_engines_own_is_refused(
    name: str, secret: bool
) -> None:
    assert refused_settings({name: "x"}, secret=secret).keys() == {name}


@pytest.mark.parametrize("name", sorted(SECRET))
def test_a_secret_is_said_in_the_secret_alone(name: str) -> None:
    assert refused_settings({name: "x"}, secret=True) == {}
    assert "configSecret" in refused_settings({name: "x"}, secret=False)[name]


def test_a_file_that_is_named_is_answered_with_what_takes_its_text() -> None:
    assert "ssl.ca.pem" in refused_settings({"ssl.ca.location": "/x"}, secret=True)["ssl.ca.location"]


@pytest.mark.parametrize("mechanism", ["GSSAPI", "gssapi", "EXTERNAL"])
def test_mechanisms_whose_clients_run_commands_are_refused(mechanism: str) -> None:
    assert "PLAIN" in refused_settings({"sasl.mechanism": mechanism}, secret=True)["sasl.mechanism"]


def test_what_is_allowed_is_allowed() -> None:
    given = dict.fromkeys(ALLOWED - {TOKEN_FUNCTION}, "1")
    given |= {"sasl.mechanism": "SCRAM-SHA-512", "security.protocol": "sasl_ssl"}
    assert refused_settings(given, secret=True) == {}


def test_a_token_function_is_named_in_the_resource_and_has_the_form_of_code() -> None:
    assert refused_settings({TOKEN_FUNCTION: "shop.tokens:given"}, secret=False) == {}
    for python in ("shop.tokens", "shop.tokens:", "lambda: 1", "shop/tokens.py:given"):
        refusals = refused_settings({TOKEN_FUNCTION: python}, secret=False)
        assert refusals == {TOKEN_FUNCTION: "write package.module:function"}
    refusals = refused_settings({TOKEN_FUNCTION: "shop.tokens:given"}, secret=True)
    assert "name it in the system's config" in refusals[TOKEN_FUNCTION]


def test_a_refusal_never_says_the_value() -> None:
    said = refused_settings({"sasl.pass": "hunter2", "replication.factor": "hunter2"}, secret=True)
    assert said
    assert "hunter2" not in str(said)


def test_a_protocol_that_is_none_is_refused_without_being_said() -> None:
    message = refused_secret({"security.protocol": "hunter2"})
    assert message == "security.protocol: allowed are PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"


def test_keys_of_a_secret_that_are_no_settings_are_counted_and_not_listed() -> None:
    entries = {"hunter2-token": "x", "other": "y", "ssl.ca.location": "/x"}
    message = refused_secret(entries)
    assert "2 of its keys are no client settings" in message
    assert "ssl.ca.pem" in message
    assert "hunter2" not in message
    assert refused_secret({"sasl.password": "x"}) == ""
