// What kind of processor this is, for the few loops that are worth wider registers than all have.
#pragma once
#include <cstdint>

namespace dedup {

// Each kind has what those before it have. wide: AVX2, as of 2013; widest: AVX-512 with counts of bits.
enum class Processor : std::uint8_t { plain, wide, widest };

// Asked once. Compilers have builtins for it, but not all of their run-time libraries fill them in.
Processor processor();

// Whether it counts bits in one instruction, as all x86 processors since 2008 do.
bool counts_bits();

}  // namespace dedup
