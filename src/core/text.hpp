// Texts: byte strings and code points in columns, properties of characters, UTF-8 (RFC 3629), hashes and a hash table.
// A lone surrogate, which only texts of our own have, takes three bytes of UTF-8.
#pragma once
#include <Python.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#define XXH_INLINE_ALL
#include "third_party/xxhash.h"

namespace dedup {

using Bytes = std::span<const std::uint8_t>;

inline Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

void append(auto& to, const auto& some) { to.insert(to.end(), some.begin(), some.end()); }

// An array with gaps between its elements, such as a column of a table.
template <class T>
class ColumnView {
public:
    ColumnView() = default;
    ColumnView(std::span<const T> all) : data_(all.data()), size_(all.size()) {}
    ColumnView(const T* data, std::size_t size, std::int64_t stride) : data_(data), size_(size), stride_(stride) {}
    std::size_t size() const { return size_; }
    const T& operator[](std::size_t i) const { return data_[static_cast<std::int64_t>(i) * stride_]; }

private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
    std::int64_t stride_ = 1;
};

// String i: data[starts[i]:starts[i] + lengths[i]]. Bounds are checked when a string is read, not in a pass over all.
struct Strings {
    Bytes data;
    ColumnView<std::int64_t> starts, lengths;

    std::size_t size() const { return starts.size(); }
    Bytes operator[](std::size_t i) const {
        const auto start = static_cast<std::size_t>(starts[i]), length = static_cast<std::size_t>(lengths[i]);
        if (length == 0) return {};
        if (length > data.size() || start > data.size() - length)
            throw std::invalid_argument("string " + std::to_string(i) + " lies outside the data");
        return data.subspan(start, length);
    }
};

// Strings that are appended one after the other.
struct StringBuffer {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> starts, lengths;

    std::size_t size() const { return starts.size(); }
    // Appends a string of `length` bytes; returns the pointer that its bytes are to be written to.
    std::uint8_t* extend(std::size_t length) {
        starts.push_back(static_cast<std::int64_t>(data.size()));
        lengths.push_back(static_cast<std::int64_t>(length));
        data.resize(data.size() + length);
        return data.data() + starts.back();
    }
    void add(Bytes string) { std::ranges::copy(string, extend(string.size())); }
    Bytes operator[](std::size_t i) const { return view()[i]; }
    Strings view() const { return {data, {starts.data(), size(), 1}, {lengths.data(), size(), 1}}; }
};

using Points = std::span<const std::uint32_t>;

// n texts: text i is points[offsets[i]:offsets[i + 1]].
struct TextColumn {
    Points points;
    std::span<const std::int64_t> offsets;

    std::size_t size() const { return offsets.size() - 1; }
    Points operator[](std::size_t i) const { return points.subspan(offsets[i], offsets[i + 1] - offsets[i]); }
};

// Memory for characters, reused and not filled with zeros.
class PointBuffer {
public:
    // `size` characters of any value; the former ones may be lost.
    std::span<std::uint32_t> get(std::size_t size) {
        if (size > size_) {
            size_ = size + size / 4;  // a little more, for the next text
            points_ = std::make_unique_for_overwrite<std::uint32_t[]>(size_);
        }
        return {points_.get(), size};
    }

private:
    std::unique_ptr<std::uint32_t[]> points_;
    std::size_t size_ = 0;
};

constexpr std::uint32_t PLANE = 0x10000;    // end of Unicode's basic plane
constexpr std::uint32_t BEYOND = 0x110000;  // the first number that is no character

// As `str.isspace` says.
inline bool is_white_space(std::uint32_t point) {
    if (point < 0x80) return point == 0x20 || (0x09 <= point && point <= 0x0D) || (0x1C <= point && point <= 0x1F);
    return point == 0x85 || point == 0xA0 || point == 0x1680 || (0x2000 <= point && point <= 0x200A) ||
           point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x3000;
}

// As `str.splitlines` says, but for the separators of files, groups and records.
inline bool ends_paragraph(std::uint32_t point) {
    return (0x0A <= point && point <= 0x0D) || point == 0x85 || point == 0x2028 || point == 0x2029;
}

// As `str.splitlines` says.
inline bool ends_line(std::uint32_t point) { return ends_paragraph(point) || (0x1C <= point && point <= 0x1E); }

// The basic plane without width and case, (PLANE,): full-width ASCII (block FF00) narrow, capitals small if that is one character.
inline const std::vector<std::uint16_t>& folded_characters() {
    static const std::vector<std::uint16_t> table = [] {
        constexpr std::uint32_t FULL_FIRST = 0xFF01, FULL_LAST = 0xFF5E, FULL_OFFSET = 0xFEE0, DOTTED_I = 0x130;
        std::vector<std::uint16_t> folded(PLANE);
        for (std::uint32_t point = 0; point < PLANE; point++) {
            const bool is_full = FULL_FIRST <= point && point <= FULL_LAST;
            const std::uint32_t plain = is_full ? point - FULL_OFFSET : point == 0x3000 ? ' ' : point;
            folded[point] = static_cast<std::uint16_t>(plain == DOTTED_I ? plain : Py_UNICODE_TOLOWER(plain));
        }
        return folded;
    }();
    return table;
}

constexpr std::size_t ASCII_BLOCK = 8;

template <class T>
T read_word(const std::uint8_t* from) {
    static_assert(std::endian::native == std::endian::little);
    T word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// A byte for each of sixteen values; 0xFF or 0 as the result of a test.
using Lanes = std::uint8_t __attribute__((vector_size(16)));

// The upper bits of the lanes.
inline unsigned bits_of(Lanes lanes) {
#if defined(__SSE2__)
    return static_cast<unsigned>(_mm_movemask_epi8((__m128i)lanes));
#else
    unsigned bits = 0;
    for (int i = 0; i < 16; i++) bits |= unsigned{lanes[i] >= 0x80} << i;
    return bits;
#endif
}

constexpr std::size_t MOST_UTF8_BYTES = 4;  // of a code point

// Writes one code point; returns its number of bytes.
inline std::size_t write_utf8(std::uint32_t point, std::uint8_t* to) {
    if (point < 0x80) {
        to[0] = static_cast<std::uint8_t>(point);
        return 1;
    }
    const std::size_t size = 2 + (point >= 0x800) + (point >= PLANE);
    for (std::size_t i = size - 1; i > 0; i--, point >>= 6) to[i] = static_cast<std::uint8_t>(0x80 | (point & 0x3F));
    to[0] = static_cast<std::uint8_t>(0xF00 >> size | point);  // as many ones as bytes, then a zero
    return size;
}

// Bytes of the UTF-8; counted in blocks, so that the processor adds many narrow numbers at a time.
inline std::size_t utf8_length(Points points) {
    constexpr std::size_t BLOCK = 128;
    std::size_t length = 0;
    while (!points.empty()) {
        const Points block = points.first(std::min(BLOCK, points.size()));
        std::uint32_t some = 0;
        for (const std::uint32_t point : block) some += 1 + (point >> 7 != 0) + (point >> 11 != 0) + (point >> 16 != 0);
        length += some;
        points = points.subspan(block.size());
    }
    return length;
}

// Writes the UTF-8 to `to`, which takes `utf8_length` bytes; returns their number.
inline std::size_t encode_utf8(Points points, std::uint8_t* to) {
    const std::uint32_t *from = points.data(), *const stop = from + points.size();
    std::uint8_t* at = to;
    while (stop - from > static_cast<std::ptrdiff_t>(ASCII_BLOCK)) {
        std::uint32_t ones = 0;
        for (std::size_t i = 0; i < ASCII_BLOCK; i++) ones |= from[i];
        if (ones < 0x80) {
            for (std::size_t i = 0; i < ASCII_BLOCK; i++) at[i] = static_cast<std::uint8_t>(from[i]);
            from += ASCII_BLOCK, at += ASCII_BLOCK;
            continue;
        }
        for (std::size_t i = 0; i < ASCII_BLOCK; i++, from++) {
            if (0x800 <= *from && *from < PLANE) {
                // the fourth byte is written over: a further point takes one
                const std::uint32_t word = 0x8080E0 | *from >> 12 | (*from << 2 & 0x3F00) | (*from & 0x3F) << 16;
                std::memcpy(at, &word, sizeof word);
                at += 3;
            } else {
                at += write_utf8(*from, at);
            }
        }
    }
    for (; from < stop; from++) at += write_utf8(*from, at);
    return static_cast<std::size_t>(at - to);
}

// Whether a code point below PLANE takes three bytes.
template <bool SURROGATES>
bool is_of_three(std::uint32_t point) {
    return 0x800 <= point && (SURROGATES || point - 0xD800 >= 0x800);
}

// Reads one character of two bytes or more, in its shortest form only, as Python does. Returns its bytes, 0 if it is none.
template <bool SURROGATES>
std::size_t read_utf8(Bytes bytes, std::uint32_t& point) {
    const std::uint32_t lead = bytes[0];
    const std::size_t size = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead <= 0xF4 ? 4 : 0;
    if (size == 0 || bytes.size() < size) return 0;
    point = lead & 0x7F >> size;
    for (std::size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return 0;
        point = point << 6 | (bytes[i] & 0x3F);
    }
    return size == 2 || (size == 3 ? is_of_three<SURROGATES>(point) : point - PLANE < 0x100000) ? size : 0;
}

constexpr std::ptrdiff_t NOT_UTF8 = -1;

// The number of characters, NOT_UTF8 for other bytes. WRITES: they are written to `to`, with up to ASCII_BLOCK without
// meaning behind them, and surrogates pass.
template <bool WRITES>
std::ptrdiff_t read_all_utf8(Bytes bytes, [[maybe_unused]] std::uint32_t* to) {
    const std::uint8_t *from = bytes.data(), *const stop = from + bytes.size();
    std::ptrdiff_t further = 0;  // bytes that begin no character
    const auto take = [&](std::uint32_t point) {
        if constexpr (WRITES) *to++ = point;
    };
    while (from < stop) {
        if (stop - from >= static_cast<std::ptrdiff_t>(ASCII_BLOCK)) {
            const auto others = read_word<std::uint64_t>(from) & 0x8080808080808080;
            const std::size_t count = static_cast<std::size_t>(std::countr_zero(others)) / 8;
            if constexpr (WRITES) {
                for (std::size_t i = 0; i < ASCII_BLOCK; i++) to[i] = from[i];
                to += count;
            }
            from += count;
            if (count == ASCII_BLOCK) continue;
        }
        for (; stop - from >= 4; from += 3, further += 2) {  // what Chinese is made of
            const auto word = read_word<std::uint32_t>(from);
            if ((word & 0xC0C0F0) != 0x8080E0) break;
            const std::uint32_t point = (word & 0x0F) << 12 | (word >> 2 & 0xFC0) | (word >> 16 & 0x3F);
            if (!is_of_three<WRITES>(point)) return NOT_UTF8;
            take(point);
        }
        std::uint32_t point = *from;
        const std::size_t size = point < 0x80 ? 1 : read_utf8<WRITES>({from, stop}, point);
        if (size == 0) return NOT_UTF8;
        take(point);
        from += size;
        further += static_cast<std::ptrdiff_t>(size) - 1;
    }
    return std::ssize(bytes) - further;
}

inline std::ptrdiff_t characters_of_utf8(Bytes bytes) { return read_all_utf8<false>(bytes, nullptr); }
inline bool is_utf8(Bytes bytes) { return characters_of_utf8(bytes) != NOT_UTF8; }
inline std::ptrdiff_t decode_utf8(Bytes bytes, std::uint32_t* to) { return read_all_utf8<true>(bytes, to); }

// xxh3 of a text's UTF-32-LE: the same on every machine and in every process, as all hashes here.
inline std::uint64_t digest(Points text) { return XXH3_64bits(text.data(), text.size_bytes()); }

// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

constexpr std::uint64_t GOLDEN = 0x9E3779B97F4A7C15;  // 2**64 by the golden ratio, odd

// A nonzero key of any value; 0 and the largest value share one.
inline std::uint64_t key_of(std::uint64_t value) { return std::max<std::uint64_t>(value + 1, 1); }

// Nonzero 64-bit keys to a small value, open addressing with linear probing.
//
// It serves thousands of short texts one after the other: it is as large as the text needs, so that a short one stays in
// the cache, and only used slots are cleared. For a text of millions of characters it grows with the keys.
template <class Value>
class HashTable {
public:
    // Clears it, for about `expected` keys; to be called once before any other function.
    void reset(std::size_t expected) {
        for (std::size_t i = 0; i < count_; i++) slots_[used_[i]].key = FREE;
        count_ = 0;
        std::size_t size = LEAST;
        while (size < 2 * expected && size < MOST_AT_FIRST) size *= 2;
        resize(size);
    }

    // The value under a key, and whether it is new; new values are Value{}. Valid until the next key.
    struct Entry {
        Value& value;
        bool is_new;
    };
    Entry operator[](std::uint64_t key) {
        const std::size_t number = number_of(key);
        Slot& slot = slots_[number];
        if (slot.key == key) return {slot.value, false};
        if (count_ > mask_ / 2) {
            grow();
            return (*this)[key];
        }
        slot = {key, Value{}};
        used_[count_++] = static_cast<std::uint32_t>(number);
        return {slot.value, true};
    }

    // The value under a key, Value{} for an unknown one.
    Value find(std::uint64_t key) const {
        const Slot& slot = slots_[number_of(key)];
        return slot.key == key ? slot.value : Value{};
    }

    // Calls take(key, value) for each key.
    void each(auto take) const {
        for (std::size_t i = 0; i < count_; i++) take(slots_[used_[i]].key, slots_[used_[i]].value);
    }

    std::size_t size() const { return count_; }

private:
    static constexpr std::uint64_t FREE = 0;
    static constexpr std::size_t LEAST = 16, MOST_AT_FIRST = 1 << 15;
    struct Slot {
        std::uint64_t key = FREE;
        Value value{};
    };

    // The slot of a key, or a free one for it.
    std::size_t number_of(std::uint64_t key) const {
        std::size_t number = (key * GOLDEN >> 20) & mask_;
        while (slots_[number].key != FREE && slots_[number].key != key) number = (number + 1) & mask_;
        return number;
    }

    // Of a power of two slots, at most half are used.
    void resize(std::size_t size) {
        if (size > slots_.size()) slots_.resize(size);
        if (size / 2 > used_.size()) used_.resize(size / 2);
        mask_ = size - 1;
    }

    [[gnu::noinline]] void grow() {
        std::vector<Slot> held;
        held.reserve(count_);
        for (std::size_t i = 0; i < count_; i++) held.push_back(std::exchange(slots_[used_[i]], Slot{}));
        count_ = 0;
        resize(2 * (mask_ + 1));
        for (const Slot& one : held) (*this)[one.key].value = one.value;
    }

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> used_;  // numbers of slots, `count_` of them
    std::size_t count_ = 0, mask_ = 0;
};

}  // namespace dedup
