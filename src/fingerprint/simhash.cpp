#include "fingerprint/simhash.hpp"

#include <bit>

#include "core/processor.hpp"

namespace dedup {
namespace {

using Hashes = std::span<const std::uint64_t>;
using Weights = std::span<const double>;

[[gnu::always_inline]] inline std::uint64_t sum_up(Hashes hashes, Weights weights) {
    double sums[64] = {};
    for (std::size_t i = 0; i < hashes.size(); i++) {
        // the sign by arithmetic: half of the branches on it would be foretold wrongly
        const auto plus = std::bit_cast<std::uint64_t>(weights[i]);
        const std::uint64_t unset = ~hashes[i];
        // as wide as the hash, or gcc 12 does not use wide registers
        for (std::uint64_t bit = 0; bit < 64; bit++)
            sums[bit] += std::bit_cast<double>(plus ^ (unset >> bit & 1) << 63);
    }
    std::uint64_t value = 0;
    for (int bit = 0; bit < 64; bit++) value |= std::uint64_t{sums[bit] > 0.0} << bit;
    return value;
}

std::uint64_t sum_up_plain(Hashes hashes, Weights weights) { return sum_up(hashes, weights); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] std::uint64_t sum_up_wide(Hashes hashes, Weights weights) { return sum_up(hashes, weights); }
[[gnu::target("avx2,avx512f,avx512dq,avx512bw,avx512vl")]] std::uint64_t sum_up_widest(Hashes hashes, Weights weights) {
    return sum_up(hashes, weights);
}
#endif

}  // namespace

std::uint64_t simhash(Hashes hashes, Weights weights) {
#if defined(__x86_64__)
    switch (processor()) {
        case Processor::plain: break;
        case Processor::wide: return sum_up_wide(hashes, weights);
        case Processor::widest: return sum_up_widest(hashes, weights);
    }
#endif
    return sum_up_plain(hashes, weights);
}

}  // namespace dedup
