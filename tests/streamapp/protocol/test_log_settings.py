"""What the processes of an app log travels by environment variables; unset, it is the installation's."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.protocol.log_settings import LogSettings
from streamapp.spec.log_levels import LOG_LEVELS
from streamapp.spec.resource.runtime_policies import LoggerLevel, Logging

LEVELS = st.sampled_from(LOG_LEVELS)
NAMES = st.sampled_from(["org.apache.spark.scheduler", "shop.scoring", "a-b", "A$B"])
LOGGERS = st.lists(st.builds(LoggerLevel, name=NAMES, level=LEVELS), max_size=4)
PARTS = st.builds(
    Logging,
    format=st.sampled_from(["json", "text", None]),
    level=st.one_of(LEVELS, st.none()),
    spark_level=st.one_of(LEVELS, st.none()),
    loggers=LOGGERS,
)


@given(PARTS, PARTS)
def test_variables_carry_the_settings_of_an_app(app: Logging, installation: Logging) -> None:
    settings = LogSettings.of(app, installation)
    assert LogSettings.of_environment(settings.variables()) == settings


@given(PARTS, PARTS)
def test_what_an_app_sets_counts_and_what_it_leaves_out_is_the_installations(
    app: Logging, installation: Logging
) -> None:
    settings = LogSettings.of(app, installation)
    assert settings.format == (app.format or installation.format or "json")
    assert settings.level == (app.level or installation.level or "info")
    assert settings.spark_level == (app.spark_level or installation.spark_level)
    levels = dict(settings.loggers)
    for logger in {one.name: one for one in app.loggers}.values():
        assert levels[logger.name] == logger.level
    assert levels.keys() == {one.name for one in (*app.loggers, *installation.loggers)}


def test_variables_of_another_version_leave_the_defaults_in_force() -> None:
    unknown = {"STREAMAPP_LOG_FORMAT": "xml", "STREAMAPP_LOG_LEVEL": "loud", "STREAMAPP_LOGGERS": "=,a=loud"}
    assert LogSettings.of_environment(unknown) == LogSettings() == LogSettings.of_environment({})
