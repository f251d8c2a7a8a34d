"""Processes: who starts them, what each runs, how they end; answering, recalling, thinking."""
