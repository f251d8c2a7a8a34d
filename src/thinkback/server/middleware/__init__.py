"""The way in: known hosts, keys, scopes, limits, and clients that are cut when they are too slow."""
