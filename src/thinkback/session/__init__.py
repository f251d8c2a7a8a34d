"""Working memory of a conversation: its running summary and the bounded context built for each turn.

The eight summary fields follow llm-dialogue-simulation.
"""
