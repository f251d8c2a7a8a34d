"""Questions: what is asked for, of which time, and in which words the answer may stand."""
