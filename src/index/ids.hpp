// The `_id` fields of documents by number: 13 bytes for an ObjectId, 13 and their length for others.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "core/hash.hpp"
#include "core/pages.hpp"
#include "core/strings.hpp"

namespace dedup {

class Ids {
public:
    struct Short {
        std::uint8_t bytes[12];  // an ObjectId; else where in `long_` the field begins, and its length
    };
    // How BSON begins an `_id` that is an ObjectId.
    static constexpr std::array<std::uint8_t, 5> OBJECT_ID{0x07, '_', 'i', 'd', 0};

    Pages<Short> short_;
    Pages<std::uint8_t> is_long, long_;

    std::size_t size() const { return short_.size(); }
    std::size_t nbytes() const { return short_.nbytes() + is_long.nbytes() + long_.nbytes(); }

    void add(Bytes field) {
        const std::size_t number = size();
        short_.resize(number + 1);
        is_long.resize(number + 1);
        const bool is_plain = field.size() == OBJECT_ID.size() + sizeof(Short) &&
                              std::equal(OBJECT_ID.begin(), OBJECT_ID.end(), field.begin());
        if (is_plain) {
            std::memcpy(short_[number].bytes, field.data() + OBJECT_ID.size(), sizeof(Short));
            return;
        }
        const std::uint64_t start = long_.size();
        const auto length = static_cast<std::uint32_t>(field.size());
        is_long[number] = 1;
        std::memcpy(short_[number].bytes, &start, sizeof start);
        std::memcpy(short_[number].bytes + sizeof start, &length, sizeof length);
        long_.resize(start + length);
        std::ranges::copy(field, long_.data() + start);
    }

    // The field of a document; `buffer` holds it where it has to be put together.
    using Buffer = std::array<std::uint8_t, OBJECT_ID.size() + sizeof(Short)>;
    Bytes get(std::size_t number, Buffer& buffer) const {
        const std::uint8_t* own = short_[number].bytes;
        if (!is_long[number]) {
            std::ranges::copy(OBJECT_ID, buffer.begin());
            std::memcpy(buffer.data() + OBJECT_ID.size(), own, sizeof(Short));
            return buffer;
        }
        std::uint64_t start;
        std::uint32_t length;
        std::memcpy(&start, own, sizeof start);
        std::memcpy(&length, own + sizeof start, sizeof length);
        if (start > long_.size() || length > long_.size() - start) return {};  // of a file that is not sound
        return long_.all().subspan(start, length);
    }
};

// A hash of a field: the group that a document founds has it as its number, see docs/design.md. Two of 50 million share
// one with probability 0.0001, which nothing depends on.
inline std::uint64_t hash_id(Bytes field) { return XXH3_64bits(field.data(), field.size()); }

}  // namespace dedup
