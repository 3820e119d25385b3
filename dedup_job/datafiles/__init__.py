"""Files of rows - JSON lines, CSV, Parquet - as a run reads and writes them, without a database."""
