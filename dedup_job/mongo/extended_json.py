"""What a person writes in MongoDB extended JSON: a query, or an `_id`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bson import json_util
from bson.errors import BSONError
from bson.json_util import JSONOptions

DEEPEST = 180  # levels of a document that a server takes, and so of a query or a path
MALFORMED = (  # what json_util and bson raise for a value that they do not take
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    BSONError,
)
_TOO_DEEP = f"nested more than {DEEPEST} levels deep, which no server takes"


def parsed(text: str, options: JSONOptions = json_util.DEFAULT_JSON_OPTIONS) -> Any:
    """Return the value; ValueError says where it is wrong."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=lambda pairs: json_util.object_pairs_hook(
                _without_repeats(pairs), options
            ),
        )
    except json.JSONDecodeError as e:
        raise ValueError(
            f"not valid extended JSON at character {e.pos + 1}: {e.msg}; names and texts need "
            'double quotes, e.g. {"lang": "zh"}'
        ) from e
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except MALFORMED as e:
        raise ValueError(f"not valid extended JSON: {e}") from e
    if _depth(value) > DEEPEST:
        raise ValueError(_TOO_DEEP)
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Refuse a name that stands twice in an object, with ValueError: only the last would count."""
    seen = set[str]()
    for name, _ in pairs:
        if name in seen:
            raise ValueError(f"the name {name!r} stands twice in one object")
        seen.add(name)
    return pairs


def _depth(value: Any) -> int:
    """Return how many objects and lists lie within each other, without recursion."""
    depth, level = 0, [value]
    while level := [v for v in level if isinstance(v, Mapping | list)]:
        depth += 1
        level = [part for v in level for part in (v.values() if isinstance(v, Mapping) else v)]
    return depth
