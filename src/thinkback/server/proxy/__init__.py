"""OpenAI-compatible proxy that adds memory to any chat application: change its base_url, and it remembers.

request -> inject.parse_body -> exchange -> recall (within a time limit) -> inject -> upstream
answer  -> relay (byte for byte, read by answer_reader) -> remember -> end of the answer

The upstream is a model server on the network, the local model, or memory alone.
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
    "LocalModelUpstream",
    "MemoryOnlyUpstream",
    "RemoteUpstream",
    "Upstream",
    "choose_upstream",
    "create_recall_client",
    "create_routes",
]


def choose_upstream(services: Services) -> Upstream:
    """The upstream of the options, otherwise the memory's local model, otherwise memory alone."""
    options, root = services.options, services.memories.root
    if options.upstream:
        return RemoteUpstream(options.upstream, options.upstream_timeout_seconds)
    if isinstance(root.llm, LocalLLM):
        return LocalModelUpstream(root.llm, services.pool, root.embedder, options.max_tokens)
    if root.llm is not None:
        raise InvalidInput(f"{root.llm.name} is a remote model: set its base URL as the upstream")
    return MemoryOnlyUpstream(services.pool, root.embedder, options.recall_limit)


def create_recall_client(services: Services) -> RecallClient:
    """The client that recalls and remembers; it uses the recall processes if the server has any."""
    local = LocalRecallClient(services.options, services.pool)
    return IpcRecallClient(services.options, local) if services.options.recall_sockets else local
