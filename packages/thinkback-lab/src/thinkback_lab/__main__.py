"""`python -m thinkback_lab`."""

from thinkback_lab.cli import main

main()
