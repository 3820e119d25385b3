// An array in pages of the operating system: it grows without a copy, and takes no memory before it is written.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace dedup {

template <class T>
class Pages {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Pages() = default;
    // A view of memory that others own, such as a mapped file; it does not grow.
    explicit Pages(std::span<T> owned) : data_(owned.data()), size_(owned.size()) {}
    Pages(Pages&& other) noexcept { swap(other); }
    Pages& operator=(Pages&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Pages() {
        if (bytes_ > 0) munmap(data_, bytes_);
    }

    std::size_t size() const { return size_; }
    std::size_t nbytes() const { return size_ * sizeof(T); }
    bool empty() const { return size_ == 0; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    std::span<T> all() { return {data_, size_}; }
    std::span<const T> all() const { return {data_, size_}; }

    // Makes it larger; new elements are zeros. Raises std::bad_alloc.
    void resize(std::size_t size) {
        const std::size_t wanted = size * sizeof(T);
        if (wanted > bytes_) grow(std::max({wanted, bytes_ + bytes_ / GROWTH, LEAST_BYTES}));
        size_ = size;
    }

private:
    static constexpr std::size_t GROWTH = 32, LEAST_BYTES = 1 << 16, LARGE_PAGE = 1 << 21;

    // On large pages where the system has them: random access needs far fewer entries in the page table's cache.
    void grow(std::size_t bytes) {
        const std::size_t page = bytes >= LARGE_PAGE / 2 ? LARGE_PAGE : LEAST_BYTES;
        bytes = (bytes + page - 1) / page * page;
        void* made;
#if defined(MREMAP_MAYMOVE)
        if (bytes_ > 0)
            made = mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
        else
#endif
            made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

    void swap(Pages& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;  // of its own pages, 0 for a view
};

}  // namespace dedup
