#include "fingerprint/sketch.hpp"

#include "core/processor.hpp"

namespace dedup {
namespace {

using Grams = std::span<const std::uint64_t>;
using Hashes = std::span<std::uint64_t>;

[[gnu::always_inline]] inline void mix_each(Grams grams, std::uint64_t step, Hashes to) {
    const std::uint64_t* from = grams.data();
    std::uint64_t* hashes = to.data();
    for (std::size_t i = 0; i < grams.size(); i++) hashes[i] = mix(from[i] + step);
}

void mix_plain(Grams grams, std::uint64_t step, Hashes to) { mix_each(grams, step, to); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void mix_wide(Grams grams, std::uint64_t step, Hashes to) { mix_each(grams, step, to); }
[[gnu::target("avx2,avx512f,avx512dq,avx512bw,avx512vl")]] void mix_widest(Grams grams, std::uint64_t step, Hashes to) {
    mix_each(grams, step, to);
}
#endif

}  // namespace

void mix_all(Grams grams, std::uint64_t step, Hashes to) {
#if defined(__x86_64__)
    switch (processor()) {
        case Processor::plain: break;
        case Processor::wide: return mix_wide(grams, step, to);
        case Processor::widest: return mix_widest(grams, step, to);
    }
#endif
    mix_plain(grams, step, to);
}

}  // namespace dedup
