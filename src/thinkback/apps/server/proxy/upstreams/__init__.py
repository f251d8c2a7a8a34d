"""What stands behind the proxy: a server of models, a model on this machine, or memory itself."""
