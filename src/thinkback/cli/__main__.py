"""`python -m thinkback.cli`, the same command without an installed script."""

from thinkback.cli.app import main

if __name__ == "__main__":
    main()
