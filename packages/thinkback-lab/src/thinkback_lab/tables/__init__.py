"""The tables of the papers, filled from finished runs, with the published figures beside ours."""
