#include "bson/scan.hpp"

#include <algorithm>
#include <cstring>

#include "core/utf8.hpp"

namespace dedup::bson {
namespace {

enum Type : std::uint8_t {
    DOUBLE = 0x01, STRING = 0x02, DOCUMENT = 0x03, ARRAY = 0x04, BINARY = 0x05, OBJECT_ID = 0x07, BOOL = 0x08,
    DATE = 0x09, NULL_ = 0x0A, INT32 = 0x10, TIMESTAMP = 0x11, INT64 = 0x12, DECIMAL = 0x13,
};
constexpr std::uint8_t OLD_BINARY = 2;  // subtype with a second length
constexpr std::int64_t NOT_PLAIN = -1;

// Bytes of a value of fixed size, or NOT_PLAIN.
constexpr std::int64_t width_of(std::uint8_t type) {
    switch (type) {
        case DOUBLE: case DATE: case TIMESTAMP: case INT64: return 8;
        case OBJECT_ID: return 12;
        case BOOL: return 1;
        case NULL_: return 0;
        case INT32: return 4;
        case DECIMAL: return 16;
        default: return NOT_PLAIN;
    }
}

}  // namespace

std::int32_t Scanner::read_size(std::int64_t at) const { return read_word<std::int32_t>(&data_[static_cast<std::size_t>(at)]); }

std::string_view Scanner::name(std::int64_t start, std::int64_t end) const {
    return {reinterpret_cast<const char*>(data_.data()) + start, static_cast<std::size_t>(end - start)};
}

// Where the zero behind a name ends, before `stop`.
std::int64_t Scanner::after_name(std::int64_t at, std::int64_t stop) const {
    if (at >= stop) return NOT_PLAIN;
    const void* zero = std::memchr(&data_[static_cast<std::size_t>(at)], 0, static_cast<std::size_t>(stop - at));
    return zero ? static_cast<const std::uint8_t*>(zero) - data_.data() + 1 : NOT_PLAIN;
}

// Where a document or an array ends.
std::int64_t Scanner::end_of_nested(std::int64_t at, std::int64_t stop) const {
    if (stop - at < 5) return NOT_PLAIN;
    const std::int64_t size = read_size(at);
    if (size < 5 || size > stop - at || data_[static_cast<std::size_t>(at + size - 1)] != 0) return NOT_PLAIN;
    return at + size;
}

// Where any other value ends; unread: a string's text is left to who decodes it.
std::int64_t Scanner::end_of(std::uint8_t type, std::int64_t at, std::int64_t stop, bool unread) const {
    if (const std::int64_t width = width_of(type); width != NOT_PLAIN) {
        if (at + width > stop || (type == BOOL && data_[static_cast<std::size_t>(at)] > 1)) return NOT_PLAIN;
        return at + width;
    }
    if (stop - at < 5) return NOT_PLAIN;
    const std::int64_t size = read_size(at);
    if (type == STRING && 0 < size && size <= stop - at - 4) {
        const std::int64_t end = at + 4 + size;
        const bool valid = data_[static_cast<std::size_t>(end - 1)] == 0 &&
                           (unread || is_utf8(data_.subspan(static_cast<std::size_t>(at + 4), static_cast<std::size_t>(size - 1))));
        return valid ? end : NOT_PLAIN;
    }
    if (type == BINARY && 0 <= size && size <= stop - at - 5 && data_[static_cast<std::size_t>(at + 4)] != OLD_BINARY)
        return at + 5 + size;
    return NOT_PLAIN;
}

std::optional<std::vector<Fields>> Scanner::find(Bytes array) {
    data_ = array;
    std::vector<Fields> rows;
    const std::int64_t last = static_cast<std::int64_t>(array.size()) - 1;
    if (last < 4 || read_size(0) != std::ssize(array) || array.back() != 0) return std::nullopt;
    for (std::int64_t at = 4; at < last;) {
        if (array[static_cast<std::size_t>(at)] != DOCUMENT) return std::nullopt;
        const std::int64_t start = after_name(at + 1, last);
        const std::int64_t end = start == NOT_PLAIN ? NOT_PLAIN : end_of_nested(start, last);
        if (end == NOT_PLAIN) return std::nullopt;
        Fields row{.start = start, .end = end};
        if (!walk(row)) row = {.start = start, .end = end};
        rows.push_back(row);
        at = end;
    }
    return rows;
}

// Enters the fields of one document; false where it is not plain.
bool Scanner::walk(Fields& found) {
    // how deep the walk is, and how many of the documents it is in lie on the path
    std::size_t depth = 0, on = 0;
    bool owned = false, other = false;  // other: the path leads to what is no text
    std::fill(seen_.begin(), seen_.end(), false);
    stops_[0] = found.end - 1;
    for (std::int64_t at = found.start + 4;;) {
        if (at == stops_[depth]) {
            if (depth == 0) break;
            depth--;
            on = std::min(on, depth);
            at++;
            continue;
        }
        const std::uint8_t type = data_[static_cast<std::size_t>(at)];
        const std::int64_t stop = stops_[depth], value = after_name(at + 1, stop);
        if (value == NOT_PLAIN || data_[static_cast<std::size_t>(at + 1)] == '$') return false;  // '$' begins the names of a DBRef
        const std::string_view own = name(at + 1, value - 1);
        if (!is_utf8(data_.subspan(static_cast<std::size_t>(at + 1), own.size()))) return false;
        const bool sought = on == depth && on < path_.size() && own == path_[on];
        const bool wanted = sought && on == path_.size() - 1 && type == STRING;
        const bool nested = type == DOCUMENT || type == ARRAY;
        const std::int64_t end = nested ? end_of_nested(value, stop) : end_of(type, value, stop, wanted);
        if (end == NOT_PLAIN || (sought && seen_[on])) return false;
        if (sought) seen_[on] = true;
        if (wanted) found.text = value, found.text_end = end;
        other |= sought && on == path_.size() - 1 && !wanted && type != NULL_;
        if (depth == 0) {
            if (own == "_id") {
                if (found.key_end != 0) return false;
                found.key = at, found.key_end = end;
            }
            owned |= own == "dedup";
        }
        if (!nested) {
            at = end;
            continue;
        }
        if (depth + 1 == DEEPEST) return false;
        on += sought && type == DOCUMENT && on + 1 < path_.size();
        depth++;
        stops_[depth] = end - 1;
        at = value + 4;
    }
    if (owned) found.text = found.text_end = 0;
    else if (found.text_end == 0 && !other) found.text_end = NOTHING;
    if (found.text_end > 0) {  // around the text stand its length and a zero
        const auto size = static_cast<std::size_t>(found.text_end - found.text - 5);
        found.characters = characters_of_utf8(data_.subspan(static_cast<std::size_t>(found.text + 4), size));
        if (found.characters == NOT_UTF8) found.text = found.text_end = found.characters = 0;
    }
    return found.key_end > 0;
}

}  // namespace dedup::bson
