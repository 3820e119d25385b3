// Entry points that belong to no room: hashes of texts, UTF-8, the time spent in compiled code.
#include "core/bind.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/hash.hpp"
#include "core/rooms.hpp"
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

Out<std::uint64_t> hash_words(In<std::uint32_t> points, In<std::int64_t> offsets, int kind) {
    const TextColumn words = texts_of(points, offsets);
    check_characters(words.all());
    if (kind < 0 || kind > 1) refuse("no such hash: " + std::to_string(kind));
    std::vector<std::uint64_t> values(words.size());
    for (std::size_t i = 0; i < words.size(); i++) {
        if (words[i].empty()) refuse("word " + std::to_string(i) + " is empty");
    }
    {
        Unlocked unlocked;
        std::vector<std::uint8_t> buffer;
        for (std::size_t i = 0; i < words.size(); i++)
            values[i] = hash_word(words[i], static_cast<WordHash>(kind), buffer);
    }
    return give(std::move(values));
}

// Strings i of a column: data[starts[i]:starts[i] + lengths[i]]. Where each lies is checked as it is read, which
// costs less than a pass before.
struct Strings {
    std::span<const std::uint8_t> data;
    ColumnView<std::int64_t> starts, lengths;

    Strings(const In<std::uint8_t>& data_, const InColumn<std::int64_t>& starts_, const InColumn<std::int64_t>& lengths_)
        : data(view(data_)), starts(starts_), lengths(lengths_) {
        if (starts.size() != lengths.size()) refuse("there are not as many lengths as starts");
    }
    std::size_t size() const { return starts.size(); }
    std::span<const std::uint8_t> operator[](std::size_t i) const {
        const auto start = static_cast<std::size_t>(starts[i]), length = static_cast<std::size_t>(lengths[i]);
        if (length == 0) return {};
        if (length > data.size() || start > data.size() - length)
            refuse("string " + std::to_string(i) + " lies outside the data");
        return data.subspan(start, length);
    }
};

// Decodes texts into memory that is used again once numpy has let go of it; threads may share it.
class Decoder {
public:
    std::tuple<Out<std::uint32_t>, Out<std::int64_t>, Out<bool>> decode(In<std::uint8_t> data, InColumn<std::int64_t> starts,
                                                                       InColumn<std::int64_t> lengths) const;

private:
    // What an array holds as long as it lives.
    struct Held {
        explicit Held(std::shared_ptr<Rooms> all) : rooms(std::move(all)) {}
        Held(const Held&) = delete;
        ~Held() { rooms->give_back(std::move(room)); }

        std::shared_ptr<Rooms> rooms;
        Rooms::Room room;
    };

    std::shared_ptr<Rooms> rooms_ = std::make_shared<Rooms>();
};

std::tuple<Out<std::uint32_t>, Out<std::int64_t>, Out<bool>> Decoder::decode(In<std::uint8_t> data, InColumn<std::int64_t> starts,
                                                                            InColumn<std::int64_t> lengths) const {
    const Strings strings(data, starts, lengths);
    std::vector<std::int64_t> offsets(strings.size() + 1);
    auto held = std::make_unique<Held>(rooms_);
    auto valid = std::make_unique<bool[]>(strings.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < strings.size(); i++)
            offsets[i + 1] = offsets[i] + static_cast<std::int64_t>(count_characters(strings[i]));
        held->room = rooms_->take(static_cast<std::size_t>(offsets.back()) + ASCII_BLOCK);
        std::uint32_t* const points = held->room.points.get();
        for (std::size_t i = 0; i < strings.size(); i++) {
            valid[i] = decode_utf8(strings[i], points + offsets[i]);
            if (!valid[i]) std::fill(points + offsets[i], points + offsets[i + 1], 0);
        }
    }
    std::uint32_t* const points = held->room.points.get();
    nb::capsule owner(held.release(), [](void* one) noexcept { delete static_cast<Held*>(one); });
    return {Out<std::uint32_t>(points, {static_cast<std::size_t>(offsets.back())}, owner), give(std::move(offsets)),
            give(std::move(valid), strings.size())};
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

// In blocks, the last one over the one before.
template <std::size_t BLOCK>
void copy_blocks(std::span<const std::uint8_t> from, std::uint8_t* to) {
    const std::size_t last = from.size() - BLOCK;
    for (std::size_t at = 0; at < last; at += BLOCK) std::memcpy(to + at, from.data() + at, BLOCK);
    std::memcpy(to + last, from.data() + last, BLOCK);
}

// For strings of twenty to a thousand bytes faster than memcpy of glibc 2.36.
void copy(std::span<const std::uint8_t> from, std::uint8_t* to) {
    if (from.size() >= 32) return copy_blocks<32>(from, to);
    if (from.size() >= 8) return copy_blocks<8>(from, to);
    for (const std::uint8_t byte : from) *to++ = byte;
}

void copy_strings(In<std::uint8_t> data, InColumn<std::int64_t> starts, InColumn<std::int64_t> lengths, InOut<std::uint8_t> to,
                  In<std::int64_t> at) {
    const Strings strings(data, starts, lengths);
    const auto places = view(at);
    if (places.size() != strings.size()) refuse("there are not as many places as strings");
    Unlocked unlocked;
    for (std::size_t i = 0; i < strings.size(); i++) {
        const auto string = strings[i];
        if (string.empty()) continue;
        const auto place = static_cast<std::size_t>(places[i]);
        if (string.size() > to.size() || place > to.size() - string.size())
            refuse("string " + std::to_string(i) + " does not fit");
        copy(string, to.data() + place);
    }
}

Out<std::uint64_t> hash_strings(In<std::uint8_t> data, InColumn<std::int64_t> starts, InColumn<std::int64_t> lengths) {
    const Strings strings(data, starts, lengths);
    std::vector<std::uint64_t> values(strings.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < strings.size(); i++) values[i] = XXH3_64bits(strings[i].data(), strings[i].size());
    }
    return give(std::move(values));
}

Out<bool> equal_strings(In<std::uint8_t> data, InColumn<std::int64_t> starts, InColumn<std::int64_t> lengths,
                        In<std::uint8_t> other_data, InColumn<std::int64_t> other_starts, InColumn<std::int64_t> other_lengths) {
    const Strings one(data, starts, lengths), other(other_data, other_starts, other_lengths);
    if (one.size() != other.size()) refuse("there are not as many strings in both");
    auto equal = std::make_unique<bool[]>(one.size());
    {
        Unlocked unlocked;
        for (std::size_t i = 0; i < one.size(); i++) equal[i] = std::ranges::equal(one[i], other[i]);
    }
    return give(std::move(equal), one.size());
}

}  // namespace

void bind_core(nb::module_& m) {
    m.def("unlocked_time", [] { return Unlocked::spent(); },
          "Return the processor seconds that this thread has spent in compiled code.");
    m.def("digests", &digests, "points"_a.noconvert(), "offsets"_a.noconvert(),
          "Return xxh3 of the UTF-32-LE of n texts, uint64 (n,).");
    m.def("hash_words", &hash_words, "points"_a.noconvert(), "offsets"_a.noconvert(), "kind"_a,
          "Return hashes of n words that are not empty, uint64 (n,); kind: 0 xxh64 of UTF-8, 1 polynomial.");
    nb::class_<Decoder>(m, "Decoder", "Reads UTF-8; memory of large arrays that were let go is used again.")
        .def(nb::init<>())
        .def("decode", &Decoder::decode, "data"_a.noconvert(), "starts"_a.noconvert(), "lengths"_a.noconvert(),
             "Return the code points of n texts in UTF-8, uint32 (p,), where each begins, int64 (n + 1,), and which\n"
             "of them are UTF-8, bool (n,); the code points of others have no meaning.");
    m.def("encode", &encode, "points"_a.noconvert(), "offsets"_a.noconvert(),
          "Return n texts in UTF-8, uint8 (b,), and where each begins, int64 (n + 1,); surrogates take three bytes.");
    m.def("copy_strings", &copy_strings, "data"_a.noconvert(), "starts"_a.noconvert(), "lengths"_a.noconvert(),
          "to"_a.noconvert(), "at"_a.noconvert(), "Copy string i to the place at[i] of another array.");
    m.def("hash_strings", &hash_strings, "data"_a.noconvert(), "starts"_a.noconvert(), "lengths"_a.noconvert(),
          "Return xxh3 of each of n strings, uint64 (n,).");
    m.def("equal_strings", &equal_strings, "data"_a.noconvert(), "starts"_a.noconvert(), "lengths"_a.noconvert(),
          "other_data"_a.noconvert(), "other_starts"_a.noconvert(), "other_lengths"_a.noconvert(),
          "Tell which of n strings are the same in both columns, bool (n,).");
}

}  // namespace dedup
