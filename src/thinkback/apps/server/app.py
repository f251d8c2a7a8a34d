"""The server put together: every room's routes behind one gate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI
from starlette.types import ASGIApp

from thinkback import __version__
from thinkback.apps.server.services import Services


def create(services: Services) -> ASGIApp:
    """The ASGI application; whoever made the services closes them."""
    raise NotImplementedError(__version__, FastAPI, AsyncIterator, AsyncExitStack, asynccontextmanager)
