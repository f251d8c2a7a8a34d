"""Post-thinking: turn -> drafts (generate) -> decisions (resolve, validate) -> changes (organise)."""
