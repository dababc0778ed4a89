"""The page of all apps as an operator serves it, of its own cache and for viewers with a token."""

from collections.abc import Callable
from time import monotonic

from aiohttp import web

from streamapp_operator.app_overview.apps_page import PREFIX, AppsPage
from streamapp_operator.app_overview.cached_apps import CachedApps
from streamapp_operator.app_overview.viewer_rights import ReviewedAccess
from streamapp_operator.controller.process.operator_parts import OperatorParts


def served_page(apps_page: bool) -> Callable[[OperatorParts], web.Application | None]:
    """A function that builds the page of an operator; None where there is none."""

    def build(operator: OperatorParts) -> web.Application | None:
        if not apps_page:
            return None
        page = AppsPage(
            CachedApps(operator.cache, operator.cluster, monotonic),
            ReviewedAccess(operator.transports[0], monotonic),
        )
        application = web.Application()
        application.add_subapp(PREFIX, page.application())
        return application

    return build
