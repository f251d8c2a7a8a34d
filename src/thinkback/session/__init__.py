"""Working memory (seed 003): what a session has come to, and the bounded context made of it at each turn."""
