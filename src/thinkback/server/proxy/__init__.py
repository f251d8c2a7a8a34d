"""The proxy: change one base_url, and any chat application remembers.

request -> splice.read -> asked -> recalling (in its time) -> splice -> upstream
answer  -> relay (byte for byte), read on the side (reading) -> remembering -> the answer's end

Behind it stands one upstream: a server on the network (remote), the model on this machine (local), or memory
itself (itself).
"""

from thinkback.errors import InvalidInput
from thinkback.llms.local import LocalLLM
from thinkback.server.proxy.ipc_client import IpcRecallClient
from thinkback.server.proxy.local_upstreams import LocalModelUpstream, MemoryOnlyUpstream
from thinkback.server.proxy.recall_client import LocalRecallClient, RecallClient
from thinkback.server.proxy.routes import create_routes
from thinkback.server.proxy.upstreams import RemoteUpstream, Upstream
from thinkback.server.services import Services

__all__ = [
    "MemoryOnlyUpstream",
    "LocalModelUpstream",
    "RemoteUpstream",
    "Upstream",
    "choose_upstream",
    "create_recall_client",
    "create_routes",
]


def choose_upstream(services: Services) -> Upstream:
    """The upstream that the options name, else the model the memory was opened with, else memory itself."""
    options, root = services.options, services.memories.root
    if options.upstream:
        return RemoteUpstream(options.upstream, options.upstream_timeout_seconds)
    if isinstance(root.llm, LocalLLM):
        return LocalModelUpstream(root.llm, services.pool, root.embedder)
    if root.llm is not None:
        raise InvalidInput(f"{root.llm.name} is a model elsewhere: give its base URL as the upstream")
    return MemoryOnlyUpstream(services.pool, root.embedder, options.recall_limit)


def create_recall_client(services: Services) -> RecallClient:
    """Who recalls and remembers: an office, where the server has one."""
    own = LocalRecallClient(services.options, services.pool)
    return IpcRecallClient(services.options, own) if services.options.recall_sockets else own
