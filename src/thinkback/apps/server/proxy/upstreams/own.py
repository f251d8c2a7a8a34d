"""An upstream within this process: it lists its one model, and embeds with the memory's embedder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from thinkback.apps.server.desk import Desk
from thinkback.apps.server.faults import Refused
from thinkback.apps.server.proxy.upstreams import forms
from thinkback.apps.server.proxy.upstreams.upstream import Incoming, Outgoing
from thinkback.ports import Embedder


class Own(ABC):
    def __init__(self, name: str, desk: Desk, embedder: Embedder) -> None:
        self._name = name
        self._desk = desk
        self._embedder = embedder

    async def send(self, request: Outgoing) -> Incoming:
        if request.path == "/models":
            return forms.whole(forms.models(self._name))
        if request.method != "POST":
            if request.path != f"/models/{self._name}":
                raise Refused(404, f"no such model here: there is {self._name!r}", "model_not_found")
            return forms.whole(forms.model(self._name))
        asked = forms.asked_object(request.body)
        if request.path == "/embeddings":
            return await self._embedded(asked)
        return await self.answer(request, asked, bare=request.path == "/completions")

    @abstractmethod
    async def answer(self, request: Outgoing, asked: dict[str, Any], *, bare: bool) -> Incoming:
        """A chat's, or of a `bare` request the completion of a prompt."""

    @abstractmethod
    async def close(self) -> None: ...

    async def _embedded(self, asked: dict[str, Any]) -> Incoming:
        texts = forms.texts_to_embed(asked, self._embedder.dim)
        vectors = await self._desk.do(lambda: self._embedder.embed(texts))
        return forms.whole(forms.embeddings(vectors, self._embedder.name, asked.get("encoding_format")))
