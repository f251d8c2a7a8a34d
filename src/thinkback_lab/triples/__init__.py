"""The thought generator's triples against KdConv's gold knowledge (decision 0010)."""
