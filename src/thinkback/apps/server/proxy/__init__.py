"""The proxy: change one base_url, and any chat application remembers.

request -> splice.read -> asked -> recalling (in its time) -> splice -> upstream
answer  -> relay (byte for byte), read on the side (reading) -> remembering -> the answer's end

Behind it stands one upstream: a server on the network (remote), the model on this machine (local), or memory
itself (itself).
"""

from thinkback.apps.server.proxy.clerks.clerk import AtTheDesk, Clerk
from thinkback.apps.server.proxy.clerks.post import ByPost
from thinkback.apps.server.proxy.surface import routes
from thinkback.apps.server.proxy.upstreams.itself import Itself
from thinkback.apps.server.proxy.upstreams.local import Local
from thinkback.apps.server.proxy.upstreams.remote import Remote
from thinkback.apps.server.proxy.upstreams.upstream import Upstream
from thinkback.apps.server.services import Services
from thinkback.errors import InvalidInput
from thinkback.models.local import LocalLLM

__all__ = ["Itself", "Local", "Remote", "Upstream", "chosen", "clerk", "routes"]


def chosen(services: Services) -> Upstream:
    """The upstream that the options name, else the model the memory was opened with, else memory itself."""
    options, root = services.options, services.memories.root
    if options.upstream:
        return Remote(options.upstream, options.upstream_s)
    if isinstance(root.llm, LocalLLM):
        return Local(root.llm, services.desk, root.embedder)
    if root.llm is not None:
        raise InvalidInput(f"{root.llm.name} is a model elsewhere: give its base URL as the upstream")
    return Itself(services.desk, root.embedder, options.recalled)


def clerk(services: Services) -> Clerk:
    """Who recalls and remembers: an office, where the server has one."""
    own = AtTheDesk(services.options, services.desk)
    return ByPost(services.options, own) if services.options.offices else own
