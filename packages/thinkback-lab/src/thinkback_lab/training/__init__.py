"""Training of the small models that thinkback ships."""
