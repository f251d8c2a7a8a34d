"""Schema migrations, one numbered SQL file each. Table `schema_version` stores how many were run."""
