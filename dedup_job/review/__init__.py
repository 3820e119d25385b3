"""The served page of `dedup review`: the only room that knows starlette and uvicorn."""
