"""The story of a run: read, clean, fingerprint, decide, write; and what runs beside it."""
