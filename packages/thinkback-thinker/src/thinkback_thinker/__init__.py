"""The LoRA adapter `thinker.gguf`, found by thinkback without importing this package."""
