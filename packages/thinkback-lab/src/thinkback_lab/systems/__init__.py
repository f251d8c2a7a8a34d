"""Memory systems behind one interface; docs/lab.md shows how to add one."""
