"""What compiled code shares: the compiler and its cache, code points, arrays that grow, hashes."""
