"""How a person sees what a run did: tables, a bar, log lines, differences."""
