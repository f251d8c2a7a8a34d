"""Apps: where people and programs meet a memory. They translate, they decide nothing."""
