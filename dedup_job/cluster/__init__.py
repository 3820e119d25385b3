"""A run on many machines, by Ray; no other room knows it.

Workers read, clean and fingerprint documents, compare their texts and write them: a document stays
in the worker that read it. Shards hold the index, each a part of the kept documents. The driver
decides in order, from keys, fingerprints and what is said of pairs, and says what is written next.
"""
