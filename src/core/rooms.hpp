// Memory of large arrays that is used again. The C library gives such memory back to the system, which clears each
// page of it when it is next used: for long texts that took several times as long as to decode them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

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
        if (size * sizeof(std::uint32_t) >= LEAST) {
            const std::scoped_lock lock(mutex_);
            const auto found = std::ranges::find_if(free_, [&](const Room& room) { return room.size >= size; });
            if (found != free_.end()) {
                Room room = std::move(*found);
                free_.erase(found);
                return room;
            }
            if (!free_.empty()) free_.pop_back();  // too small, as others soon will be
            size += size / 8;
        }
        return {std::make_unique_for_overwrite<std::uint32_t[]>(size), size};
    }

    void give_back(Room room) {
        if (room.size * sizeof(std::uint32_t) < LEAST) return;
        const std::scoped_lock lock(mutex_);
        if (free_.size() < MOST_FREE) free_.push_back(std::move(room));
    }

private:
    static constexpr std::size_t MOST_FREE = 4;

    std::mutex mutex_;
    std::vector<Room> free_;
};

}  // namespace dedup
