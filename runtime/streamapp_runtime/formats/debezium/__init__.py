"""Changes of a database's table as Debezium writes them in JSON, read as the rows of the table."""
