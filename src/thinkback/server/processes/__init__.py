"""The server's processes: one supervisor, and workers that answer, recall and think."""
