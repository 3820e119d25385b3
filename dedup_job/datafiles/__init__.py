"""Files of rows, JSON lines or CSV, as a run reads and writes them, without a database."""
