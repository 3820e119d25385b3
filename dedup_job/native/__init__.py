"""What compiled code shares: texts, byte strings, arrays that grow or lie in files, hashes."""
