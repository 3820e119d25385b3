"""How 64 bits are cut into blocks, and what a query then costs: the choice and its reasons.

Two fingerprints within distance k differ, in at least one of m disjoint blocks, by no more than
the block's radius, if the sum of (radius + 1) over the blocks is greater than k: the pigeonhole
principle of multi-index hashing (Norouzi, Punjani, Fleet, CVPR 2012, section 3), with radii that
need not be equal. Of a block only as many bits address a bucket as leave the buckets well filled.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

BITS = 64
MAX_DISTANCE = 7
MIN_BLOCKS, MAX_BLOCKS = 1, 8
CHUNK_BYTES = 64  # a cache line
PER_CHUNK = 10  # fingerprints
FINGERPRINT_BYTES = 9.0  # itself, and whether it is searched for
DEFAULT_BYTES = 32.0  # a fingerprint, where the memory is not given
_SPARE = 1.01  # what the arrays hold in reserve
_MOST_PROBES = 8192
_FEWEST_BITS, _MOST_BITS = 8, 28
_CHECK_BITS = 16
# nanoseconds, fitted to ten layouts of 10 M fingerprints on one core: they order the layouts
_QUERY_NS, _CHUNK_NS, _ROUND_NS, _PASS_NS = 250.0, 22.0, 300.0, 40.0


@dataclass(frozen=True, slots=True)
class Block:
    """Bits offset .. offset + bits - 1 address 2**bits buckets; `radius` of them may differ."""

    offset: int
    bits: int
    radius: int

    @property
    def probes(self) -> int:
        """Number of buckets that a query looks into."""
        return sum(math.comb(self.bits, r) for r in range(self.radius + 1))


@dataclass(frozen=True, slots=True)
class Layout:
    """Disjoint blocks that together miss nothing within `distance`."""

    distance: int
    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        """Raise ValueError where blocks overlap or a fingerprint could be missed."""
        if not 0 <= self.distance <= MAX_DISTANCE:
            raise ValueError(f"distance is {self.distance}, expected 0 to {MAX_DISTANCE}")
        if sum(b.radius + 1 for b in self.blocks) <= self.distance:
            raise ValueError(f"radii are too small for distance {self.distance}")
        end = 0
        for b in self.blocks:
            if b.offset < end or b.offset + b.bits > BITS:
                raise ValueError("blocks overlap or leave the 64 bits")
            end = b.offset + b.bits

    @property
    def probes(self) -> int:
        """Buckets that a query looks into."""
        return sum(b.probes for b in self.blocks)

    def chunks(self, size: float) -> float:
        """Return how many chunks hold `size` random fingerprints in all blocks."""
        return sum(_chunks(b.bits, size) for b in self.blocks)

    def bytes_per_fingerprint(self, size: float) -> float:
        """Return the memory a fingerprint takes when there are `size`, without ids."""
        return _SPARE * (FINGERPRINT_BYTES + CHUNK_BYTES * self.chunks(size) / max(size, 1.0))

    def microseconds(self, size: float) -> float:
        """Return what a query costs by the model, among `size` random fingerprints."""
        chains = [_chunks(b.bits, size) / (1 << b.bits) for b in self.blocks]
        visited = sum(b.probes * chain for b, chain in zip(self.blocks, chains, strict=True))
        passing = sum(self._passing(b) * size / (1 << b.bits) for b in self.blocks)
        spent = _QUERY_NS + _CHUNK_NS * visited + _ROUND_NS * max(chains) + _PASS_NS * passing
        return spent / 1000

    def _passing(self, block: Block) -> float:
        """Return for how many fingerprints a bucket's one stands that pass the check bits."""
        return sum(
            math.comb(block.bits, wrong) * _share_within(self.distance - wrong)
            for wrong in range(min(block.radius, self.distance) + 1)
        )

    def __str__(self) -> str:
        """Say it in words, such as `2 blocks of 22 bits, radius 1, 1`."""
        bits = " and ".join(dict.fromkeys(str(b.bits) for b in self.blocks))
        radii = ", ".join(str(b.radius) for b in self.blocks)
        many = "s" if len(self.blocks) > 1 else ""
        return f"{len(self.blocks)} block{many} of {bits} bits, radius {radii}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The layouts that come into question, one of each kind, the cheapest first, and the choice."""

    chosen: Layout
    size: float
    memory: float
    fits: bool
    considered: tuple[Layout, ...]


def plan(
    distance: int, size: float, blocks: int = 0, bytes_per_fingerprint: float = DEFAULT_BYTES
) -> Plan:
    """Choose the cheapest layout for `size` fingerprints within the memory allowed.

    blocks: how many, 0 to choose. Where no layout fits, the smallest is taken. Raises ValueError
    for a distance or number of blocks out of range.
    """
    if not 0 <= distance <= MAX_DISTANCE:
        raise ValueError(f"distance is {distance}, expected 0 to {MAX_DISTANCE}")
    if blocks != 0 and not MIN_BLOCKS <= blocks <= MAX_BLOCKS:
        raise ValueError(f"blocks is {blocks}, expected 0 (choose) or {MIN_BLOCKS} to {MAX_BLOCKS}")
    if not math.isfinite(size):
        raise ValueError(f"size is {size}, expected a number of fingerprints")
    size = max(size, 1.0)
    layouts = list(_layouts(distance, size, blocks))
    fitting = [x for x in layouts if x.bytes_per_fingerprint(size) <= bytes_per_fingerprint]
    if fitting:
        chosen = min(fitting, key=lambda x: x.microseconds(size))
    else:
        chosen = min(layouts, key=lambda x: x.bytes_per_fingerprint(size))
    best: dict[tuple[int, ...], Layout] = {}  # one of each kind, to be shown
    for layout in sorted(layouts, key=lambda x: x.microseconds(size)):
        best.setdefault(tuple(b.radius for b in layout.blocks), layout)
    best[tuple(b.radius for b in chosen.blocks)] = chosen
    considered = sorted(best.values(), key=lambda x: x.microseconds(size))
    return Plan(chosen, size, bytes_per_fingerprint, bool(fitting), tuple(considered))


def _layouts(distance: int, size: float, blocks: int) -> Iterator[Layout]:
    """Yield layouts of equally wide blocks whose radii differ by one at most."""
    for m in (blocks,) if blocks else range(MIN_BLOCKS, MAX_BLOCKS + 1):
        low, more = divmod(max(distance + 1 - m, 0), m)
        radii = [low + 1] * more + [low] * (m - more)
        if not blocks and m > distance + 1:
            break  # a block that need not match costs memory and finds nothing new
        width = BITS // m
        for bits in range(min(_FEWEST_BITS, width), min(width, _MOST_BITS) + 1):
            made = tuple(Block(i * width, bits, r) for i, r in enumerate(radii))
            layout = Layout(distance, made)
            fill = size / (1 << bits)
            if layout.probes <= _MOST_PROBES and (fill > 2 or bits == min(_FEWEST_BITS, width)):
                yield layout


def _share_within(distance: int) -> float:
    """Return the share of random check bits that are within the distance."""
    return sum(math.comb(_CHECK_BITS, wrong) for wrong in range(distance + 1)) / (1 << _CHECK_BITS)


@functools.lru_cache(maxsize=1024)
def _chunks(bits: int, size: float) -> float:
    """Return the expected number of chunks of a block: every bucket has one at least."""
    fill = size / (1 << bits)
    if fill > 400:  # half a chunk is wasted
        return float((1 << bits) * (fill / PER_CHUNK + 0.5))
    chunks, probability, below = 0.0, math.exp(-fill), 0.0
    n = 0
    while below < 1 - 1e-9 and n < 1000:
        chunks += probability * max(1, math.ceil(n / PER_CHUNK))
        below += probability
        n += 1
        probability *= fill / n
    return float((1 << bits) * chunks)
