// Services of the operating system: memory in pages, threads, the time.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <new>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace dedup {

// An array in pages of the operating system: it grows without a copy, and takes no memory until it is written.
template <class T>
    requires std::is_trivially_copyable_v<T>
class Pages {
public:
    Pages() = default;
    // A view of foreign memory, such as a mapped file; it does not grow.
    explicit Pages(std::span<T> owned) : data_(owned.data()), size_(owned.size()) {}
    Pages(Pages&& other) noexcept { *this = std::move(other); }
    Pages& operator=(Pages&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Pages() {
        if (bytes_ > 0) munmap(data_, bytes_);
    }

    std::size_t size() const { return size_; }
    std::size_t nbytes() const { return size_ * sizeof(T); }
    bool empty() const { return size_ == 0; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

    // Makes it larger; new elements are zeros. Raises std::bad_alloc.
    void resize(std::size_t size) {
        const std::size_t wanted = size * sizeof(T);
        if (wanted > bytes_) grow(std::max({wanted, bytes_ + bytes_ / GROWTH, LEAST_BYTES}));
        size_ = size;
    }
    void append(std::span<const T> more) {
        resize(size_ + more.size());
        std::ranges::copy(more, data_ + size_ - more.size());
    }

private:
    static constexpr std::size_t GROWTH = 32, LEAST_BYTES = 1 << 16, LARGE_PAGE = 1 << 21;

    // On large pages if the system has them: random access needs far fewer entries in the page table's cache.
    void grow(std::size_t bytes) {
        const std::size_t page = bytes >= LARGE_PAGE / 2 ? LARGE_PAGE : LEAST_BYTES;
        bytes = (bytes + page - 1) / page * page;
        void* const made =
#if defined(MREMAP_MAYMOVE)
            bytes_ > 0 ? mremap(data_, bytes_, bytes, MREMAP_MAYMOVE) :
#endif
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) throw std::bad_alloc();
#if !defined(MREMAP_MAYMOVE)
        if (bytes_ > 0) {
            std::memcpy(made, data_, bytes_);
            munmap(data_, bytes_);
        }
#endif
#if defined(MADV_HUGEPAGE)
        if (page == LARGE_PAGE) madvise(made, bytes, MADV_HUGEPAGE);
#endif
        data_ = static_cast<T*>(made);
        bytes_ = bytes;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;  // of its own pages, 0 for a view
};

// Calls `work(take)` in up to `threads` threads, one for each `least` numbers below `count`. `take` returns the next number,
// to a single thread, and `count` behind the last one. An error of a thread is thrown when all have ended.
void share(std::size_t count, std::size_t threads, auto work, std::size_t least = 16) {
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
