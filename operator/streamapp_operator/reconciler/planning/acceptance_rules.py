"""The rules of acceptance that need the resource and the installation alone."""

from collections.abc import Callable, Iterator

from streamapp.author.app_streams import is_embedded
from streamapp.author.not_supported import not_supported
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.facts.cluster_facts import needs_default_class
from streamapp_operator.reconciler.installation import Installation
from streamapp_operator.reconciler.named_objects import outside_allow_lists
from streamapp_operator.reconciler.planning.pod_template_rules import (
    OWN_VARIABLE,
    is_own_variable,
    own_variable_problems,
    template_problems,
)
from streamapp_operator.reconciler.pods import driver_template, executor_template, runtime_image
from streamapp_operator.reconciler.pods.memory_split import MIN_HEAP, MIN_NON_HEAP, split_memory
from streamapp_operator.reconciler.pods.spark_conf import reserved_prefix


def acceptance_problems(app: StreamApp, installation: Installation) -> list[Problem]:
    """All problems, each with its path."""
    return [problem for rule in ACCEPTANCE_RULES for problem in rule(app, installation)]


def _image(app: StreamApp, installation: Installation) -> Iterator[Problem]:
    if not runtime_image.runtime_image(app, installation):
        yield _not_allowed("spec.image", "missing; this installation has no default image")


def _templates(app: StreamApp, installation: Installation) -> Iterator[Problem]:
    spec = app.spec
    driver, executor = driver_template.DRIVER_CONTAINER, executor_template.EXECUTOR_CONTAINER
    yield from template_problems(spec.driver.template, "spec.driver.template", driver, installation)
    yield from template_problems(spec.executor.template, "spec.executor.template", executor, installation)


def _variables(app: StreamApp, _: Installation) -> Iterator[Problem]:
    spec = app.spec
    set_elsewhere = {"PYTHONPATH": "spec.code"} if spec.code else {}
    for index, variable in enumerate(spec.env):
        set_elsewhere[variable.name] = f"spec.env[{index}]"
        if is_own_variable(variable.name):
            yield _not_allowed(f"spec.env[{index}].name", OWN_VARIABLE)
    for role, container, template in (
        ("driver", driver_template.DRIVER_CONTAINER, spec.driver.template),
        ("executor", executor_template.EXECUTOR_CONTAINER, spec.executor.template),
    ):
        yield from own_variable_problems(template, f"spec.{role}.template", container, set_elsewhere)


def _host_path(app: StreamApp, installation: Installation) -> Iterator[Problem]:
    state = app.spec.state.host_path
    if state is None:
        return
    # A folder below a root may be an app's own, with a link in it that leads anywhere on the node.
    if state.path.rstrip("/") not in {root.rstrip("/") for root in installation.host_path_roots}:
        roots = ", ".join(installation.host_path_roots) or "none"
        message = f"found {state.path}; has to be one of the roots that this installation allows: {roots}"
        yield _not_allowed("spec.state.hostPath.path", message)


def _spark_conf(app: StreamApp, _: Installation) -> Iterator[Problem]:
    for role, settings in (
        ("driver", app.spec.driver.spark_conf),
        ("executor", app.spec.executor.spark_conf),
    ):
        for name in settings:
            if prefix := reserved_prefix(name):
                message = f'settings that begin with "{prefix}" are the engine\'s own; leave it out'
                yield _not_allowed(f"spec.{role}.sparkConf.{name}", message)


def _embedded(app: StreamApp, _: Installation) -> Iterator[Problem]:
    """Only one process at a time can open an embedded log."""
    for index, system in enumerate(app.spec.systems):
        if system.embedded is None:
            continue
        path = f"spec.systems[{index}].embedded"
        if system is not app.spec.home:
            message = "on a cluster only the home can be embedded: its folder is on the app's volume"
            yield Problem(0, 0, path, f"{message}; use kafka", Reason.UNSUPPORTED_SYSTEM)
        if app.spec.processors > 1:
            message = f"on a cluster an embedded system has one processor; found {app.spec.processors}"
            yield Problem(0, 0, path, f"{message}; use kafka, or one processor", Reason.UNSUPPORTED_SYSTEM)


def _sizes(app: StreamApp, installation: Installation) -> Iterator[Problem]:
    for role, default, resources in (
        ("driver", installation.driver_requests, app.spec.driver.resources),
        ("executor", installation.executor_requests, app.spec.executor.resources),
    ):
        memory = resources.limits.get("memory") or {**default, **resources.requests}["memory"]
        if split_memory(memory, role).non_heap < MIN_NON_HEAP and not (
            role == "executor" and is_embedded(app)
        ):
            path = f"spec.{role}.resources"
            parts = f"Spark's heap takes {MIN_HEAP} MiB, Python and stores {MIN_NON_HEAP} MiB"
            message = f"{memory} of memory are too little: {parts}; ask for more"
            yield Problem(0, 0, path, message)


def _storage_class(app: StreamApp, installation: Installation) -> Iterator[Problem]:
    if needs_default_class(app) and not installation.storage_class:
        message = "missing, and no default storage class can be seen in the cluster; name one"
        yield Problem(0, 0, "spec.state.persistentVolumeClaim.storageClassName", message)


def _not_supported(app: StreamApp, _: Installation) -> Iterator[Problem]:
    yield from not_supported(app)


def _not_allowed(path: str, message: str) -> Problem:
    return Problem(0, 0, path, message, Reason.NOT_ALLOWED)


ACCEPTANCE_RULES: tuple[Callable[[StreamApp, Installation], Iterator[Problem]], ...] = (
    _image,
    _templates,
    _variables,
    outside_allow_lists,
    _host_path,
    _spark_conf,
    _embedded,
    _sizes,
    _not_supported,
    _storage_class,
)
