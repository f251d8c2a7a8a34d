"""Tasks told in shards, one a turn (seed 003): does a conversation keep what it was told to its last turn?"""
