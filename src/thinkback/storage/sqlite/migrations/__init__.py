"""The schema, one numbered file a step; a database knows its step as `PRAGMA user_version`."""
