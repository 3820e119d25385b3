// Room that text is written to: large enough from the start, so nothing is checked where it grows.
#pragma once
#include <algorithm>
#include <cassert>
#include <memory>
#include <string_view>

#include "cleaning/characters.hpp"

namespace dedup::cleaning {

constexpr std::size_t GROWTH = 10;  // characters that become of one at most; percent encoding is the greatest
constexpr std::size_t SPARE = 256;  // room for what is written without a character behind it

inline std::size_t room_for(std::size_t length) { return GROWTH * length + SPARE + BEHIND; }

// Room that is not filled with zeros: what is not written costs nothing.
class Buffer {
public:
    // Room of a size; what it held may be lost.
    std::span<std::uint32_t> room(std::size_t size) {
        if (size > size_) {
            size_ = size + size / 4;  // a little more, for the next ones
            points_.reset();
            points_ = std::make_unique_for_overwrite<std::uint32_t[]>(size_);
        }
        return {points_.get(), size};
    }

private:
    std::unique_ptr<std::uint32_t[]> points_;
    std::size_t size_ = 0;
};

class Writer {
public:
    Writer() = default;
    explicit Writer(std::span<std::uint32_t> room) : room_(room) {}

    Place size() const { return size_; }
    std::uint32_t& operator[](Place at) { return room_[at]; }
    std::uint32_t operator[](Place at) const { return room_[at]; }
    std::uint32_t* data() { return room_.data(); }

    void append(std::uint32_t point) { room_[size_++] = point; }
    void append(Points points) {
        assert(size_ + points.size() <= room_.size());
        std::copy(points.begin(), points.end(), room_.begin() + size_);
        size_ += std::ssize(points);
    }
    void append(std::string_view ascii) {
        for (const char letter : ascii) append(static_cast<std::uint32_t>(letter));
    }

    // What was written from a place on, or between two; nothing where the text was cut before it.
    Points from(Place first) const { return between(first, size_); }
    Points between(Place first, Place stop) const {
        return first < stop ? Points(room_).subspan(first, stop - first) : Points();
    }

    // Goes on writing from a place.
    void cut(Place at) { size_ = at; }

    // Puts what was written between two places, and nothing of what is behind it, at a place before.
    void take_back(Place first, Place stop, Place to) {
        const Points kept = between(first, stop);
        std::copy(kept.begin(), kept.end(), room_.begin() + to);
        size_ = to + std::ssize(kept);
    }

private:
    std::span<std::uint32_t> room_;
    Place size_ = 0;
};

}  // namespace dedup::cleaning
