"""Recall: finds the memories that matter for a query, and answers with them."""
