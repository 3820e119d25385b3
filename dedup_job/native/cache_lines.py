"""What both indexes do with a chunk, one cache line: 16 words of 32 bits, see chunks.py.

numba has no vectors and cannot prefetch, so this is written for LLVM.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from dedup_job.native.jit import inlined, popcount

NEXT, FIRST, CHECKS, WORDS = 0, 1, 11, 16
ENTRIES = CHECKS - FIRST
_LANES = 16


def _near_entries(_typing: Any, pool: Any, _chunk: Any, _check: Any, _limit: Any) -> Any:
    """Compare the check bits of a chunk's ten entries at once; a bit is set for each that is near.

    An entry that is free has check bits, too: zeros.

    The second half of the cache line is taken as 16 numbers of 16 bits, of which the last ten are
    check bits.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        i16, i64 = ir.IntType(16), ir.IntType(64)
        lanes = ir.VectorType(i16, _LANES)
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
        undefined = ir.Constant(lanes, ir.Undefined)

        def in_all_lanes(value: Any) -> Any:
            one = builder.insert_element(undefined, builder.trunc(value, i16), ir.IntType(32)(0))
            return builder.shuffle_vector(one, undefined, zeros)

        words = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.add(builder.mul(arguments[1], i64(WORDS)), i64(WORDS // 2))
        line = builder.bitcast(builder.gep(words.data, [place]), lanes.as_pointer())
        difference = builder.xor(builder.load(line, align=4), in_all_lanes(arguments[2]))
        count = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(lanes, [lanes]), f"llvm.ctpop.v{_LANES}i16"
        )
        bits = builder.call(count, [difference])
        near = builder.icmp_unsigned("<=", bits, in_all_lanes(arguments[3]))
        mask = builder.zext(builder.bitcast(near, i16), i64)
        return builder.lshr(mask, i64(_LANES - ENTRIES))

    return types.uint64(pool, types.int64, types.uint64, types.uint64), generate


near_entries: Any = intrinsic(_near_entries)


def _fetch(_typing: Any, array: Any, _place: Any) -> Any:
    """Ask for the cache line of an element, by its place in memory, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        elements = context.make_array(signature.args[0])(context, builder, arguments[0])
        line = builder.bitcast(builder.gep(elements.data, [arguments[1]]), pointer)
        form = ir.FunctionType(ir.VoidType(), [pointer, i32, i32, i32])
        fetch = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
        builder.call(fetch, [line, i32(0), i32(3), i32(1)])  # to read, into all caches, data
        return context.get_dummy_value()

    return types.none(array, types.int64), generate


fetch: Any = intrinsic(_fetch)


def _load(_typing: Any, words: Any, _byte: Any) -> Any:
    """Return the 8 bytes of an array that begin at any byte."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        start = builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [arguments[1]])
        return builder.load(builder.bitcast(start, ir.IntType(64).as_pointer()), align=1)

    return types.uint64(words, types.uint64), generate


load: Any = intrinsic(_load)


@inlined
def first_bit(mask: np.uint64) -> np.int64:
    """Return the place of the lowest bit that is set."""
    return np.int64(popcount((mask & (~mask + np.uint64(1))) - np.uint64(1)))
