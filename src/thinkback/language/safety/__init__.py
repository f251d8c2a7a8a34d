"""Detection and redaction of prompt injections and secrets in stored text."""
