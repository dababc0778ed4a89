"""The rules on how an app is deployed: fields that say something only together."""

from collections.abc import Iterator

from streamapp.spec.problem import short
from streamapp.spec.text.document import Path
from streamapp.spec.validation.outline import Fault, Outline
from streamapp.spec.value_types.durations import milliseconds


def repeated_variables(app: Outline) -> Iterator[Fault]:
    """Each variable has one entry, and that one value."""
    entries = app.spec.fields.get("env")
    path_of: dict[str, int] = {}
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not isinstance(entry, dict):
            continue
        path: Path = ("spec", "env", index)
        name = entry.get("name")
        if isinstance(name, str) and name in path_of:
            yield (*path, "name"), f'the variable "{short(name)}" is set by spec.env[{path_of[name]}]'
        elif isinstance(name, str):
            path_of[name] = index
        if entry.get("value") is not None and entry.get("valueFrom") is not None:
            yield path, "takes either value or valueFrom; found both"


def accounts_of_others_get_no_annotations(app: Outline) -> Iterator[Fault]:
    """An account that is named is not the operator's to annotate."""
    driver = app.spec.fields.get("driver")
    annotations = driver.get("serviceAccountAnnotations") if isinstance(driver, dict) else None
    if annotations and app.spec.fields.get("serviceAccountName") is not None:
        message = "goes with the account that is made for the app; annotate the one in serviceAccountName"
        yield ("spec", "driver", "serviceAccountAnnotations"), message


def standby_executors_have_a_standby(app: Outline) -> Iterator[Fault]:
    """Executors of a standby need one, and volumes of their own."""
    driver, state = app.spec.fields.get("driver"), app.spec.fields.get("state")
    if not isinstance(driver, dict) or driver.get("standbyExecutors") is not True:
        return
    path: Path = ("spec", "driver", "standbyExecutors")
    if driver.get("standby") is not True:
        yield path, "are executors of a standby driver; set driver.standby as well"
    if isinstance(state, dict) and state.get("persistentVolumeClaim") is not None:
        yield path, "goes without state.persistentVolumeClaim: a claim is mounted by one pod"


def autoscaling_has_a_target_and_room(app: Outline) -> Iterator[Fault]:
    """Autoscaling follows something, and its bounds leave it a number."""
    autoscale = app.spec.fields.get("autoscale")
    if not isinstance(autoscale, dict):
        return
    path: Path = ("spec", "autoscale")
    if autoscale.get("targetLag") is None and autoscale.get("targetUtilization") is None:
        yield path, "follows nothing; set targetLag, targetUtilization or both"
    least, most = autoscale.get("min", 1), autoscale.get("max")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield (*path, "min"), f"found {least}, more than max {most}"


def restarts_wait_no_longer_than_the_most(app: Outline) -> Iterator[Fault]:
    """The first wait is among those that the longest bounds."""
    first, longest = (app.spec.text("restartPolicy", name) for name in ("backoff", "maxBackoff"))
    try:
        if first and longest and milliseconds(first.name) > milliseconds(longest.name):
            yield first.path, f"found {short(first.name)}, longer than maxBackoff {short(longest.name)}"
    except ValueError:
        return  # told where the duration stands


def spark_settings_are_those_of_spark(app: Outline) -> Iterator[Fault]:
    """Spark drops a setting of another name in silence."""
    for role in ("driver", "executor"):
        part = app.spec.fields.get(role)
        settings = part.get("sparkConf") if isinstance(part, dict) else None
        for name in settings if isinstance(settings, dict) else ():
            if isinstance(name, str) and not name.startswith("spark."):
                yield ("spec", role, "sparkConf", name), "no setting of Spark: these begin with spark."
