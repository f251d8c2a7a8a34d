"""People in words: names, how they sound, who is whose, and the phrases that name somebody in steps."""
