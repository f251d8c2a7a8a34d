"""The tables of the seeds in their own form, filled from finished runs, the papers' figures beside them."""
