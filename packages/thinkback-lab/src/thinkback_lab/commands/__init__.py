"""The commands of `thinkback-lab`: they read options, call the library modules and print the results."""
