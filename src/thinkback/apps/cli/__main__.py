"""`python -m thinkback.apps.cli`, the same command without an installed script."""

from thinkback.apps.cli.app import main

if __name__ == "__main__":
    main()
