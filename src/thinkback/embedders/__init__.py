"""Embedders behind the `Embedder` protocol: MiniLM (ONNX), static word vectors, hashing, OpenAI servers."""
