"""The memory server: a proxy for any chat application, REST, mem0's surface and MCP on one database.

request -> protocol (slow clients) -> gate (host, origin, key, limits) -> a room -> a tenant's Memory

The rooms `proxy`, `rest`, `mem0` and `mcp` translate and decide nothing; each gives its `routes(services)`.
What blocks (SQLite, numpy, a model) runs at the desk, in threads; only the pass-through is asynchronous.
"""
