// The extension module `dedup_job._core`, and the entry points of columns of strings; each other room binds its own.
#include "core/bind.hpp"

#include <algorithm>
#include <cstring>

#include "core/hash.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace nanobind::literals;

namespace dedup {
namespace {

// Whether the processor has the instruction popcnt, with which this code is compiled.
bool counts_bits() {
#if defined(__x86_64__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_POPCNT);
#else
    return true;
#endif
}

Out<std::int64_t> count_characters(const StringArrays& arrays) {
    const Strings strings = strings_of(arrays);
    return give(unlocked([&] {
        std::vector<std::int64_t> counts(strings.size());
        for (std::size_t i = 0; i < strings.size(); i++) counts[i] = characters_of_utf8(strings[i]);
        return counts;
    }));
}

void copy_strings(const StringArrays& arrays, InOut<std::uint8_t> to,
                  In<std::int64_t> at) {
    const Strings strings = strings_of(arrays);
    const auto places = view(at);
    Unlocked unlocked;
    for (std::size_t i = 0; i < strings.size(); i++) {
        const auto string = strings[i];
        if (string.empty()) continue;
        const auto place = static_cast<std::size_t>(places[i]);
        if (string.size() > to.size() || place > to.size() - string.size())
            refuse("string " + std::to_string(i) + " does not fit");
        std::memcpy(to.data() + place, string.data(), string.size());
    }
}

Out<std::uint64_t> hash_strings(const StringArrays& arrays) {
    const Strings strings = strings_of(arrays);
    return give(unlocked([&] {
        std::vector<std::uint64_t> values(strings.size());
        for (std::size_t i = 0; i < strings.size(); i++) values[i] = XXH3_64bits(strings[i].data(), strings[i].size());
        return values;
    }));
}

Out<bool> equal_strings(const StringArrays& arrays,
                        const StringArrays& other_arrays) {
    const Strings one = strings_of(arrays), other = strings_of(other_arrays);
    auto equal = std::make_unique<bool[]>(one.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < one.size(); i++) equal[i] = std::ranges::equal(one[i], other[i]);
    }
    return give(std::move(equal), one.size());
}

}  // namespace

void bind_core(nb::module_& m) {
    m.def("count_characters", &count_characters, "strings"_a.noconvert(),
          "Return how many characters n texts in UTF-8 have, int64 (n,), -1 for those that are not.");
    m.def("copy_strings", &copy_strings, "strings"_a.noconvert(),
          "to"_a.noconvert(), "at"_a.noconvert(), "Copy string i to the place at[i] of another array.");
    m.def("hash_strings", &hash_strings, "strings"_a.noconvert(),
          "Return xxh3 of each of n strings, uint64 (n,).");
    m.def("equal_strings", &equal_strings, "strings"_a.noconvert(),
          "others"_a.noconvert(),
          "Tell which of n strings are the same in both columns, bool (n,).");
}

}  // namespace dedup

NB_MODULE(_core, m) {
    if (!dedup::counts_bits())
        throw nanobind::import_error("this processor is older than 2008: dedup needs its instruction popcnt");
    m.doc() = "Compiled code of dedup: functions over batches, without the interpreter's lock.";
    dedup::bind_core(m);
    dedup::bind_bson(m);
    dedup::bind_cleaning(m);
    dedup::bind_fingerprint(m);
    dedup::bind_index(m);
    dedup::bind_decision(m);
    dedup::bind_judgment(m);
}
