"""Remove duplicate and near-duplicate documents from MongoDB collections."""

__version__ = "0.1.0"
