"""Pure numerics on numpy: what of a space is near a query, by meaning and by words."""
