"""The cleaner a second time, in plain Python and with a real parser: slow, and easy to check."""

from tests.cleaning.oracle.cleaner import clean

__all__ = ["clean"]
