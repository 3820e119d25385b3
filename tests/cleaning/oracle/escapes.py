"""Character references: which `&` starts one, and the escape of all that does not."""

from __future__ import annotations

import re
from html.entities import html5

_FORM = r"#[0-9]{1,7};|#[xX][0-9A-Fa-f]{1,6};|[A-Za-z][A-Za-z0-9]{1,31};"
