"""One file a command: it reads its options, calls the modules that decide, and shows their figures."""
