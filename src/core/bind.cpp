// Entry points that belong to no room: hashes of texts, UTF-8, columns of strings.
#include "core/bind.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/hash.hpp"
#include "core/utf8.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

Out<std::uint64_t> digests(In<std::uint32_t> points, In<std::int64_t> offsets) {
    const TextColumn texts = texts_of(points, offsets);
    std::vector<std::uint64_t> values(texts.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < texts.size(); i++) values[i] = digest(texts[i]);
    }
    return give(std::move(values));
}

Out<std::uint64_t> hash_words(In<std::uint32_t> points, In<std::int64_t> offsets) {
    const TextColumn words = texts_of(points, offsets);
    check_characters(words.all());
    std::vector<std::uint64_t> values(words.size());
    {
        Unlocked unlocked;
        std::vector<std::uint8_t> buffer;
        for (std::size_t i = 0; i < words.size(); i++)
            values[i] = hash_word(words[i], buffer);
    }
    return give(std::move(values));
}

Out<std::int64_t> count_characters(const StringArrays& arrays) {
    const Strings strings = strings_of(arrays);
    std::vector<std::int64_t> counts(strings.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < strings.size(); i++) counts[i] = characters_of_utf8(strings[i]);
    }
    return give(std::move(counts));
}

std::tuple<Out<std::uint32_t>, Out<std::int64_t>> decode(const StringArrays& arrays) {
    const Strings strings = strings_of(arrays);
    std::vector<std::int64_t> offsets(strings.size() + 1);
    std::unique_ptr<std::uint32_t[]> points;
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < strings.size(); i++) {
            const std::ptrdiff_t count = characters_of_utf8(strings[i]);
            if (count == NOT_UTF8) refuse("text " + std::to_string(i) + " is not UTF-8");
            offsets[i + 1] = offsets[i] + count;
        }
        points = std::make_unique_for_overwrite<std::uint32_t[]>(static_cast<std::size_t>(offsets.back()) + ASCII_BLOCK);
        for (std::size_t i = 0; i < strings.size(); i++) decode_utf8(strings[i], points.get() + offsets[i]);
    }
    const auto size = static_cast<std::size_t>(offsets.back());
    return {give(std::move(points), size), give(std::move(offsets))};
}

std::tuple<Out<std::uint8_t>, Out<std::int64_t>> encode(In<std::uint32_t> points, In<std::int64_t> offsets) {
    const TextColumn texts = texts_of(points, offsets);
    check_characters(texts.all());
    std::vector<std::int64_t> ends(texts.size() + 1);
    std::unique_ptr<std::uint8_t[]> data;
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < texts.size(); i++) ends[i + 1] = ends[i] + static_cast<std::int64_t>(utf8_length(texts[i]));
        data = std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(ends.back()));
        for (std::size_t i = 0; i < texts.size(); i++) encode_utf8(texts[i], data.get() + ends[i]);
    }
    const auto size = static_cast<std::size_t>(ends.back());
    return {give(std::move(data), size), give(std::move(ends))};
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
    std::vector<std::uint64_t> values(strings.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < strings.size(); i++) values[i] = XXH3_64bits(strings[i].data(), strings[i].size());
    }
    return give(std::move(values));
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
    m.def("digests", &digests, "points"_a.noconvert(), "offsets"_a.noconvert(),
          "Return xxh3 of the UTF-32-LE of n texts, uint64 (n,).");
    m.def("hash_words", &hash_words, "points"_a.noconvert(), "offsets"_a.noconvert(),
          "Return xxh64 of the UTF-8 of n words that are not empty, uint64 (n,).");
    m.def("count_characters", &count_characters, "strings"_a.noconvert(),
          "Return how many characters n texts in UTF-8 have, int64 (n,), -1 for those that are not.");
    m.def("decode", &decode, "strings"_a.noconvert(),
          "Return the code points of n texts in UTF-8, uint32 (p,), and where each begins, int64 (n + 1,).");
    m.def("encode", &encode, "points"_a.noconvert(), "offsets"_a.noconvert(),
          "Return n texts in UTF-8, uint8 (b,), and where each begins, int64 (n + 1,); surrogates take three bytes.");
    m.def("copy_strings", &copy_strings, "strings"_a.noconvert(),
          "to"_a.noconvert(), "at"_a.noconvert(), "Copy string i to the place at[i] of another array.");
    m.def("hash_strings", &hash_strings, "strings"_a.noconvert(),
          "Return xxh3 of each of n strings, uint64 (n,).");
    m.def("equal_strings", &equal_strings, "strings"_a.noconvert(),
          "others"_a.noconvert(),
          "Tell which of n strings are the same in both columns, bool (n,).");
}

}  // namespace dedup
