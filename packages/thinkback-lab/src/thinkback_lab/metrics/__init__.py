"""What a run is scored by: pure functions from what came back, and what should have, to numbers."""
