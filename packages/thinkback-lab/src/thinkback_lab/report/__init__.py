"""Reports for people: one HTML file that holds all it needs, with charts of our own."""
