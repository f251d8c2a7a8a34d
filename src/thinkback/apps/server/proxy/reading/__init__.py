"""Answers read on the side while they pass: whole or in events, in whatever pieces they come."""
