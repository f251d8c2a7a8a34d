"""Schema migrations, one numbered SQL file each. A database stores its version in `PRAGMA user_version`."""
