"""Public data sets, one loader module each. The data itself is not distributed."""
