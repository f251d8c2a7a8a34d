"""The laboratory: measures memory, one command each; uses only what `thinkback` exports publicly."""
