// Columns of byte strings: n of them in one array, without an object for each.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace dedup {

using Bytes = std::span<const std::uint8_t>;

inline Bytes bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

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

// String i: data[starts[i]:starts[i] + lengths[i]]. Where each lies is checked when it is read, which costs less than
// a pass before.
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

// Strings that are put together one after the other.
struct StringBuffer {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> starts, lengths;

    std::size_t size() const { return starts.size(); }
    // Appends a string, and returns where its bytes have to be written.
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

}  // namespace dedup
