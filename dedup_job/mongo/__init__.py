"""Everything that talks to MongoDB; nothing outside this folder imports pymongo or bson.

Here: which connection strings hold a password, and how they are shown. It imports no driver, since
each command looks for passwords among its arguments.
"""

import re
from urllib.parse import unquote

_HOST = r"(?:\[[^\]@/?]+\]|[^:@/?,\[\]]+)(?::[0-9]+)?"
_PARTS = re.compile(
    r"(?P<scheme>mongodb(?:\+srv)?://)"
    r"(?:(?P<user>[^:@/]*)(?P<password>:[^:@/]*)?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)"
    r"(?P<database>/[^@/?]*)?"
    r"(?:\?(?P<options>.*))?",
    re.DOTALL,
)
_SCHEME = re.compile(r"\s*mongodb(\+srv)?:/", re.IGNORECASE)
_WITHOUT_SCHEME = re.compile(r"[^\s/@:.]+:\S+@[^\s@]+")  # user:password@host
_SECRET_OPTION = re.compile(r"password|passphrase|_token:|secret", re.IGNORECASE)
_SHOWN_OPTIONS = (  # any other may hold a secret, if only by a slip of the pen
    "authmechanism",
    "authsource",
    "directconnection",
    "readconcernlevel",
    "readpreference",
    "replicaset",
    "tls",
    "w",
)


def is_well_formed(uri: str) -> bool:
    """Return whether user, password and hosts of a connection string can be told apart."""
    return _PARTS.fullmatch(uri) is not None


def names_server(text: str) -> bool:
    """Return whether a text begins as a connection string does."""
    return _SCHEME.match(text) is not None


def has_password(text: str) -> bool:
    """Return whether a text is a connection string with a password, or looks like one."""
    if parts := _PARTS.fullmatch(text):
        options = unquote(parts["options"] or "")
        return bool(parts["password"]) or _SECRET_OPTION.search(options) is not None
    return names_server(text) or _WITHOUT_SCHEME.fullmatch(text) is not None


def redacted(uri: str) -> str:
    """Return a connection string without secrets; of a malformed one not even the host."""
    parts = _PARTS.fullmatch(uri)
    if parts is None:
        scheme = _SCHEME.match(uri)
        return f"{scheme[0].strip()}/***" if scheme else "***"
    user = parts["user"]
    login = "" if user is None else f"{user}{':***' if parts['password'] else ''}@"
    options = [_redacted_option(o) for o in re.split("[&;]", parts["options"] or "") if o]
    query = f"?{'&'.join(options)}" if options else ""
    return f"{parts['scheme']}{login}{parts['hosts']}{parts['database'] or ''}{query}"


def _redacted_option(option: str) -> str:
    name, equals, value = option.partition("=")
    is_known = name.lower() in _SHOWN_OPTIONS and equals and "@" not in value
    return option if is_known else f"{name}=***" if equals and name.isalnum() else "***"
