"""`python -m thinkback.cli` runs the command line without the installed script."""

from thinkback.cli.app import main

if __name__ == "__main__":
    main()
