"""Recorded replies: lookup by prompt, an LLM without a network, an OpenAI-compatible server."""
