"""Memory for models by the Model Context Protocol: over stdio for one user, over HTTP for many.

`tools` are plain functions of a `Memory`; `results` are their return types; `server` offers them by the
protocol and finds the memory that a call is about.
"""
