"""Language models behind the `LLM` protocol: OpenAI-compatible servers, local GGUF files, scripts."""
