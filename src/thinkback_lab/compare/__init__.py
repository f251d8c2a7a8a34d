"""Runs side by side, question by question: which memory system is better, and how sure that is."""
