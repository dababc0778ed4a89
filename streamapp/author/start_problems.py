"""Why an app cannot start, whatever its streams are: fields, columns, expressions."""

from streamapp.author.app_rules import app_problems
from streamapp.author.not_supported import not_supported
from streamapp.columns.app_columns import column_problems
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp


def start_problems(app: StreamApp) -> tuple[Problem, ...]:
    """Every such problem, sorted by its path. A start has Spark judge what is left."""
    return tuple(sorted({*not_supported(app), *app_problems(app), *column_problems(app)}))
