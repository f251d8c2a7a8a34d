"""Memory systems behind one interface: one file each, so that anyone can add theirs and be compared."""
