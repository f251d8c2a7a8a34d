"""The store contract on a relational database, shared by SQLite and PostgreSQL.

The packages `storage.sqlite` and `storage.postgres` add a connection (`Database`), the statements in their
dialect (`queries.sql`, with the same names and parameters in both) and what differs: locking, erasure of
bytes, backup.
"""
