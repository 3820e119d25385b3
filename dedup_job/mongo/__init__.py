"""Everything that talks to MongoDB; nothing outside this folder imports pymongo or bson."""
