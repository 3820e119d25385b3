// Memory of large arrays that is used again. The C library gives such memory back to the system, which clears each
// page of it when it is next used: for long texts that took several times as long as to write them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace dedup {

class Rooms {
public:
    static constexpr std::size_t LEAST = 32 << 20;  // bytes; from there on glibc never keeps memory

    struct Room {
        std::unique_ptr<std::uint32_t[]> points;
        std::size_t size = 0;
    };

    // Room for so many points, its content of no meaning.
    Room take(std::size_t size) {
        if (!is_large(size)) return made(size);
        const std::scoped_lock lock(mutex_);
        Room room = std::exchange(free_, {});
        return room.size >= size ? std::move(room) : made(size + size / 8);  // so that the next one fits
    }

    void give_back(Room room) {
        const std::scoped_lock lock(mutex_);
        if (is_large(room.size)) free_ = std::move(room);
    }

private:
    static bool is_large(std::size_t size) { return size * sizeof(std::uint32_t) >= LEAST; }
    static Room made(std::size_t size) { return {std::make_unique_for_overwrite<std::uint32_t[]>(size), size}; }

    std::mutex mutex_;
    Room free_;  // one: more take memory, and save less
};

}  // namespace dedup
