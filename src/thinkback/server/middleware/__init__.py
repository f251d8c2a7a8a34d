"""ASGI middleware: known hosts, API keys, scopes, limits, request logs and metrics."""
