// Work that threads share, and the seconds that a block takes.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <system_error>
#include <vector>

namespace dedup {

// Calls `work(take)` in some threads at once, fewer where the system gives no more; each calls `take` for a place from 0
// to below `count` until that is `count`. Every place is taken once. An error of one is thrown when all have ended. least:
// places that are worth a thread.
template <class Work>
void share(std::size_t count, std::size_t threads, Work work, std::size_t least = 16) {
    std::atomic<std::size_t> next = 0;
    const auto take = [&] { return std::min(next.fetch_add(1, std::memory_order_relaxed), count); };
    std::vector<std::future<void>> others;
    try {
        for (std::size_t i = 1; i < std::min(threads, count / least); i++)
            others.push_back(std::async(std::launch::async, [&] { work(take); }));
    } catch (const std::system_error&) {
    }
    work(take);
    for (std::future<void>& other : others) other.get();
}

// Adds the seconds until it goes to a sum.
class Timer {
public:
    explicit Timer(double& sum) : sum_(sum) {}
    Timer(const Timer&) = delete;
    ~Timer() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count(); }

private:
    double& sum_;
    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace dedup
