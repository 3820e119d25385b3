#include "core/processor.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace dedup {
namespace {

#if defined(__x86_64__)

// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, "CPUID".
struct Features {
    unsigned ecx1 = 0, ebx7 = 0, ecx7 = 0;
    std::uint64_t saved = 0;  // registers that the system saves, XCR0

    Features() {
        unsigned eax = 0, ebx = 0, edx = 0;
        if (!__get_cpuid(1, &eax, &ebx, &ecx1, &edx)) return;
        __get_cpuid_count(7, 0, &eax, &ebx7, &ecx7, &edx);
        if (ecx1 >> 27 & 1) {  // OSXSAVE
            unsigned low = 0, high = 0;
            __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
            saved = std::uint64_t{high} << 32 | low;
        }
    }
    bool has_popcnt() const { return ecx1 >> 23 & 1; }
    bool has_avx2() const { return (saved & 0x6) == 0x6 && (ebx7 >> 5 & 1); }
    bool has_avx512() const {  // F, DQ, BW, VL; BITALG, VPOPCNTDQ
        constexpr unsigned basic = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31, bits = 1u << 12 | 1u << 14;
        return (saved & 0xE6) == 0xE6 && (ebx7 & basic) == basic && (ecx7 & bits) == bits;
    }
};

const Features& features() {
    static const Features features;
    return features;
}

#endif

}  // namespace

Processor processor() {
#if defined(__x86_64__)
    if (!features().has_avx2()) return Processor::plain;
    return features().has_avx512() ? Processor::widest : Processor::wide;
#else
    return Processor::plain;
#endif
}

bool counts_bits() {
#if defined(__x86_64__)
    return features().has_popcnt();
#else
    return true;
#endif
}

}  // namespace dedup
