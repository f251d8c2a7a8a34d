"""The memory server: an OpenAI-compatible proxy, REST, mem0's API and MCP on one database.

request -> middleware.telemetry -> middleware.security (host, origin, key, scope, limits) -> route -> Memory

`proxy`, `routes` (REST and mem0) and `mcp` translate requests into calls of `Memory`. Blocking work (SQLite,
numpy, models) runs in a thread pool; only the proxy's pass-through is asynchronous. `processes` starts and
supervises the worker processes.
"""
