"""Memory for a model, by the Model Context Protocol: over stdio for one user, over HTTP for many.

`tools` are plain functions of a Memory; `server` offers them by the protocol; `hosts` knows whose memory a
call is about; `mounting` puts it at /mcp, `stdio` on standard input and output.
"""
