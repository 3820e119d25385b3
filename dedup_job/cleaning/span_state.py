"""What the layout knows: where it stands, and of each open span."""

from __future__ import annotations

from typing import Final

(
    BLANKS,
    HARD,
    WORDS,
    IMAGES,
    DEPTH,
    PENDING,
    FENCE_BEGIN,
    LEAD,
    FENCED_END,
    PROTECTED,
    ROWS,
    SOFT_BREAKS,
    FLAGS,
) = range(13)
"""Places in the state of the layout: the white space that comes before the next character, and
whether no row may take its line break; characters but underscores, and images, that were written;
open spans; the lowest one not yet written, 0 for none; where code begins, how far there is nothing
but white space, and where its fence ended; how deep in what no style rule touches; open rows; line
breaks in them; what a second cleaning might see."""
IMPLIED: Final = 2
"""Of a line break that no row may take: a fence needs it, the text does not hold it."""
KIND, BEGIN, INSIDE, WORDS_BEFORE, IMAGES_BEFORE, BLANK_BEFORE, HARD_BEFORE = range(7)
MARKER, CELLS, SEPARATORS_DUE, BREAKS_BEFORE = range(7, 11)
"""What is known of an open span: its mark; where it and its content begin, -1 while nothing of it
is written; what stood before; where its marker is; cells, separators to write, line breaks."""
WITH_BRACES: Final = 4
"""A second cleaning might see a style rule."""
