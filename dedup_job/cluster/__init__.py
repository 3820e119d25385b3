"""Pages cleaned and fingerprinted on many machines, by Ray; no other room knows it.

Reading, deciding and writing stay in the command. A child process of the command is Ray's client:
Ray ends its client at once when it loses this machine's part of the cluster, and the command then
still says so.
"""
