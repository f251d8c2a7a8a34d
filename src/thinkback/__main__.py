"""`python -m thinkback`, the same as the command `thinkback`."""

from thinkback.cli.app import main

if __name__ == "__main__":
    main()
