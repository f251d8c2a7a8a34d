"""Post-thinking: read a turn, draft thoughts, plan the operations they cause, and apply them.

    turn -> generator (rules, a model or both) -> drafts -> plan -> operations -> store

`thinker` runs these steps for pending turns, also in a background thread; `consolidate` tidies whole groups.
"""
