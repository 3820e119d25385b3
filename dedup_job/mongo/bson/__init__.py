"""Documents as bytes: fields found and replaced, rows made, ids compared and shown."""
