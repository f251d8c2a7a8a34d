"""The network `reranker.onnx` and its tokenizer, found by thinkback without importing this package."""
