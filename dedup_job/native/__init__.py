"""Data shared with compiled code: columns of strings and texts, files of arrays, hashes."""
