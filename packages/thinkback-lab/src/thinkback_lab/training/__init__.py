"""Training: the small models that thinkback ships, made anew by a command."""
