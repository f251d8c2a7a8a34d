"""The proxy: change one base_url, and any chat application remembers.

request -> splice.read -> asked -> recalling (in its time) -> splice -> upstream
answer  -> relay (byte for byte), read on the side (reading) -> remembering -> the answer's end
"""

from thinkback.apps.server.proxy.remote import Remote
from thinkback.apps.server.proxy.surface import routes
from thinkback.apps.server.proxy.upstream import Upstream

__all__ = ["Remote", "Upstream", "routes"]
