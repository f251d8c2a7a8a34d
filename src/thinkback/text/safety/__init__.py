"""Hostile text is data: orders, secrets and forged structure are found here, and kept out of recall."""
