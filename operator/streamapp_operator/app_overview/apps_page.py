"""The page of all apps over HTTP: its files, its rows, and the details of one app."""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from aiohttp import hdrs, web

from streamapp.plan.render.drawing.theme import variables
from streamapp.served_pages.page_safety import PAGE_HEADERS
from streamapp.served_pages.shared_assets import SCRIPT_TYPE, STYLE_TYPE, Assets, page_asset
from streamapp_operator.app_overview.app_row import app_details
from streamapp_operator.app_overview.apps_reading import AppsSource
from streamapp_operator.app_overview.viewer_rights import UnknownViewerError, ViewerAccess
from streamapp_operator.controller.client.api_errors import ClusterError, RejectedError

PREFIX: Final = "/apps"
_JSON: Final = "application/json; charset=utf-8"
_TEXT: Final = "text/plain; charset=utf-8"
_ASSETS: Final[Assets] = {
    "": ("apps_page.html", "text/html; charset=utf-8"),
    "apps_page.css": ("apps_page.css", STYLE_TYPE),
    "apps_page.js": ("apps_page.js", SCRIPT_TYPE),
}
_THEME: Final = variables(":root").encode()
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AppsPage:
    """The page of all apps of a source, for those who may see them."""

    source: AppsSource
    access: ViewerAccess

    def application(self) -> web.Application:
        """The web application that answers below `PREFIX`."""
        application = web.Application(middlewares=[self._guarded])
        application.add_routes(
            [
                web.get("", _redirect),
                web.get("/data", self._rows),
                web.get("/app", self._details),
                web.get("/{file:[A-Za-z_.]*}", _file),
            ]
        )
        return application

    @web.middleware
    async def _guarded(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Answer with the headers of a page, and a fault in words."""
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(PAGE_HEADERS)
            raise
        except UnknownViewerError as error:
            response = _text(401, str(error))
            response.headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
        except RejectedError as error:  # the rights of the operator, not those of the viewer
            _log.error("the page of all apps: %s", error)
            response = _text(502, f"the API server refuses what the page needs: {error}")
        except ClusterError as error:
            response = _text(503, f"the API server does not answer: {error}")
        response.headers.update(PAGE_HEADERS)
        return response

    async def _rows(self, request: web.Request) -> web.StreamResponse:
        reading = await self.source.read()
        namespaces = {row["namespace"] for row in reading.rows}
        visible = await self._visible(request, namespaces)
        rows = [row for row in reading.rows if row["namespace"] in visible]
        return _json(request, {"apps": rows, "notices": reading.notices if visible == namespaces else ()})

    async def _details(self, request: web.Request) -> web.StreamResponse:
        """The details; an app that is not there and one that may not be seen are answered alike."""
        namespace, name = request.query.get("namespace", ""), request.query.get("name", "")
        visible = await self._visible(request, {namespace})
        app = await self.source.app(namespace, name) if namespace in visible else None
        if app is None:
            return _text(404, f'there is no StreamApp "{name}" in namespace {namespace}, or not for you')
        return _json(request, app_details(app))

    async def _visible(self, request: web.Request, namespaces: set[str]) -> frozenset[str]:
        return await self.access.visible(request.headers.get(hdrs.AUTHORIZATION, ""), namespaces)


async def _redirect(_: web.Request) -> web.StreamResponse:
    """To the page, relative: a proxy may have put a path before it."""
    raise web.HTTPPermanentRedirect(f"{PREFIX.lstrip('/')}/")


async def _file(request: web.Request) -> web.StreamResponse:
    name = request.match_info["file"]
    asset = (STYLE_TYPE, _THEME) if name == "theme.css" else page_asset(name, __package__, _ASSETS)
    if asset is None:
        return _text(404, f"look at {PREFIX}/")
    kind, content = asset
    return web.Response(body=content, headers={hdrs.CONTENT_TYPE: kind})


def _text(status: int, text: str) -> web.Response:
    return web.Response(status=status, body=f"{text}\n".encode(), headers={hdrs.CONTENT_TYPE: _TEXT})


def _json(request: web.Request, document: dict[str, Any]) -> web.Response:
    """The document, compressed; nothing where the viewer has it already."""
    content = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    if request.headers.get(hdrs.IF_NONE_MATCH) == tag:
        return web.Response(status=304, headers={hdrs.ETAG: tag})
    response = web.Response(body=content, headers={hdrs.CONTENT_TYPE: _JSON, hdrs.ETAG: tag})
    response.enable_compression()
    return response
