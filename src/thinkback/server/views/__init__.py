"""Views of a whole space for the web page: search as you type, timeline, graph and map of the thoughts.

They work on a `SpaceSnapshot`, a read-only copy of all thoughts of a space in memory, which is brought up to
date from the database before each use.
"""
