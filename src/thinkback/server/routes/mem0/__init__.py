"""mem0's surface: its clients move here by changing a URL.

`forms` are its requests and answers, `whose` maps its identifiers, `keeping` and `finding` do the work,
`routes` are the paths. What is ours shows through in three places, and each is documented there: a memory is
a thought with a history, adding waits for thinking, and metadata is not kept.
"""

from __future__ import annotations

from thinkback.server.routes.mem0.routes import create_router

__all__ = ["create_router"]
