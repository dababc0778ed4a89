"""The page of all apps as an operator serves it, of its own cache and for viewers with a token."""

from collections.abc import Callable, Mapping
from time import monotonic

from aiohttp import web

from streamapp_operator.app_overview.apps_page import PREFIX, AppsPage
from streamapp_operator.app_overview.cached_apps import CachedApps
from streamapp_operator.app_overview.viewer_rights import ReviewedAccess
from streamapp_operator.controller.process.operator_parts import OperatorParts


def served_pages(apps_page: bool) -> Callable[[OperatorParts], Mapping[str, web.Application]]:
    """A function that builds the pages of an operator, by their prefixes."""

    def build(operator: OperatorParts) -> Mapping[str, web.Application]:
        if not apps_page:
            return {}
        page = AppsPage(
            CachedApps(operator.cache, operator.cluster, monotonic),
            ReviewedAccess(operator.transports[0], monotonic),
        )
        return {PREFIX: page.application()}

    return build
