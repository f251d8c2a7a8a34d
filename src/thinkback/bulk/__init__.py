"""Bulk work spread over a Ray cluster: encoding of turns for import and `reembed`, and thinking.

Decision 0029 says who reads and writes what. Ray is an optional dependency (`thinkback[ray]`).
"""
