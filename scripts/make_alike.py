"""Write dedup_job/judgment/alike.txt: Han characters that look alike, and how characters are read.

    pip install numpy pillow pypinyin
    python scripts/make_alike.py SANS.ttc SERIF.ttc

The fonts are free ones, such as WenQuanYi Zen Hei and AR PL UMing of Debian's packages
fonts-wqy-zenhei and fonts-arphic-uming. Of the 6,763 characters of GB 2312 each is drawn in both
fonts and blurred; two look alike where one is among the NEAREST of the other and the mean cosine of
the two drawings is LEAST or more. Readings are those of pypinyin (Unicode's Unihan) without tones.
"""

from __future__ import annotations

import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from pypinyin.pinyin_dict import pinyin_dict

SIZE, NEAREST, LEAST = 32, 16, 0.8
SURE = "旳的 曰日 己已 已巳 己巳 已巴 己巴 裉褪 低底 目日 曰目 侯候 干于 亳毫"
TARGET = Path(__file__).parent.parent / "dedup_job" / "judgment" / "alike.txt"
HEAD = """\
# Han characters that look alike and characters that sound alike; made by scripts/make_alike.py.

# A character, and those of a higher code point that look like it.
[shapes]
{shapes}

# Pairs that OCR programs take for each other wherever they stand.
[sure]
{sure}

# A reading without its tone, and the characters that are read so.
[sounds]
{sounds}
"""


def characters() -> list[str]:
    """Return the Han characters of GB 2312 by code point."""
    cells = (bytes([row, cell]) for row in range(0xB0, 0xF8) for cell in range(0xA1, 0xFF))
    return sorted(c for cell in cells if (c := cell.decode("gb2312", "ignore")))


def drawn(font_file: str, those: list[str]) -> NDArray[np.float32]:
    """Return each character's drawing as a unit vector, float32 (n, SIZE * SIZE)."""
    font = ImageFont.truetype(font_file, SIZE - 2)
    rows = np.zeros((len(those), SIZE * SIZE), dtype=np.float32)
    for row, character in zip(rows, those, strict=True):
        image = Image.new("L", (SIZE, SIZE), 0)
        ImageDraw.Draw(image).text((SIZE / 2, SIZE / 2), character, 255, font, anchor="mm")
        row[:] = np.asarray(image.filter(ImageFilter.GaussianBlur(1.0)), dtype=np.float32).ravel()
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def shapes(fonts: list[str], those: list[str]) -> dict[str, str]:
    """Return for each character those of a higher code point that look like it."""
    alike = np.mean([rows @ rows.T for rows in (drawn(font, those) for font in fonts)], axis=0)
    np.fill_diagonal(alike, 0)
    found = defaultdict[str, set[str]](set)
    for i, row in enumerate(alike):
        for j in np.argsort(-row)[:NEAREST].tolist():
            if row[j] >= LEAST:
                first, second = sorted((those[i], those[j]))
                found[first].add(second)
    return {first: "".join(sorted(others)) for first, others in sorted(found.items())}


def sounds(those: list[str]) -> dict[str, str]:
    """Return the characters of each reading without its tone."""
    found = defaultdict[str, set[str]](set)
    for character in those:
        for reading in pinyin_dict.get(ord(character), "").split(","):
            plain = "".join(c for c in unicodedata.normalize("NFD", reading) if "a" <= c <= "z")
            found[plain].add(character)
    return {plain: "".join(sorted(found[plain])) for plain in sorted(found) if plain}


if __name__ == "__main__":
    all_of_them = characters()
    near = shapes(sys.argv[1:], all_of_them)
    heard = sounds(all_of_them)
    text = HEAD.format(
        shapes="\n".join(first + others for first, others in near.items()),
        sure=SURE.replace(" ", "\n"),
        sounds="\n".join(f"{plain} {those}" for plain, those in heard.items()),
    )
    TARGET.write_text(text, encoding="utf-8")
    print(f"{sum(map(len, near.values())):,} pairs look alike, {len(heard)} readings: {TARGET}")
