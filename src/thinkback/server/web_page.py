"""Serves the built web page: `/`, `/favicon.svg` and `/assets/NAME`.

The page contains no data and needs no key: it calls the REST API with the session of its user. Only plain
files of the build folder are served, and the security headers allow no other source of scripts or styles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from thinkback.server.errors import json_error

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
SECURITY_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
IMMUTABLE = "public, max-age=31536000, immutable"
SHORT_LIVED = "public, max-age=3600"
MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}", re.ASCII)
_HASHED_NAME = re.compile(r".+[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+", re.ASCII)

NOT_BUILT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>thinkback</title>
<h1>The web page is not part of this installation</h1>
<p>The server itself works: the REST API, the OpenAI-compatible proxy and MCP need no page.</p>
<p>Install thinkback from a wheel, or build the page in a source tree with <code>make web</code>.</p>
</html>
"""


def page_folder() -> Path:
    """The folder of the built page."""
    return Path(str(files("thinkback"))) / "web" / "dist"


def create_routes(folder: Path | None = None) -> list[BaseRoute]:
    page = _Page(page_folder() if folder is None else folder)
    return [
        Route("/", page.index, methods=["GET"]),
        Route("/index.html", page.index, methods=["GET"]),
        Route("/favicon.svg", page.favicon, methods=["GET"]),
        Route("/assets/{name}", page.asset, methods=["GET"]),
    ]


class _Page:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def index(self, request: Request) -> Response:
        path = self._folder / "index.html"
        if not path.is_file():
            return HTMLResponse(NOT_BUILT, 503, headers=dict(SECURITY_HEADERS))
        return _file_response(path, "text/html; charset=utf-8", "no-store")

    async def favicon(self, request: Request) -> Response:
        return self._plain_file(self._folder, "favicon.svg")

    async def asset(self, request: Request) -> Response:
        return self._plain_file(self._folder / "assets", request.path_params["name"])

    def _plain_file(self, folder: Path, name: str) -> Response:
        media_type = MEDIA_TYPES.get(Path(name).suffix)
        path = folder / name
        if media_type is None or not _FILE_NAME.fullmatch(name) or not path.is_file() or path.is_symlink():
            return json_error(404, "there is nothing at this path", "not_found")
        return _file_response(path, media_type, IMMUTABLE if _HASHED_NAME.fullmatch(name) else SHORT_LIVED)


def _file_response(path: Path, media_type: str, cache: str) -> Response:
    headers = {**SECURITY_HEADERS, "Cache-Control": cache}
    return FileResponse(path, media_type=media_type, headers=headers)
