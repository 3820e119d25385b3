// Where the fields of plain documents lie, for all documents of a server's reply at once.
//
// A plain document needs no decoder: it is well-formed, of common types, its texts are UTF-8, and neither
// `_id` nor a name on the way to the text comes twice. All others are left to the decoder. Format:
// bsonspec.org, version 1.1.
#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>

#include "core/bind.hpp"

using namespace nanobind::literals;

namespace dedup {
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

// From `start` to `end` the document, from `key` to `key_end` its `_id` field, from `text` to `text_end` the
// text's value, of so many characters. key_end is 0 where the document is not plain, text_end where it is not, or has
// something else there, or what is not UTF-8, or a field of the name `dedup`; NOTHING where it has nothing there, or null.
constexpr std::int64_t NOTHING = -1;

struct Fields {
    std::int64_t start = 0, end = 0, key = 0, key_end = 0, text = 0, text_end = 0, characters = 0;
};

class Scanner {
public:
    // path: the names that lead to the text.
    explicit Scanner(std::vector<std::string> path) : path_(std::move(path)), seen_(path_.size() + 1) {}

    // Returns the fields of all documents of a BSON array; raises ValueError for what is none.
    std::vector<Fields> find(Bytes array) {
        const auto check = [](bool is_sound) {
            if (!is_sound) refuse("the server's reply is no array of documents");
        };
        data_ = array;
        std::vector<Fields> rows;
        const std::int64_t last = std::ssize(array) - 1;
        check(last >= 4 && read_size(0) == std::ssize(array) && array.back() == 0);
        for (std::int64_t at = 4; at < last;) {
            check(array[static_cast<std::size_t>(at)] == DOCUMENT);
            const std::int64_t start = after_name(at + 1, last);
            const std::int64_t end = start == NOT_PLAIN ? NOT_PLAIN : end_of_nested(start, last);
            check(end != NOT_PLAIN);
            Fields row{.start = start, .end = end};
            if (!walk(row)) row = {.start = start, .end = end};
            rows.push_back(row);
            at = end;
        }
        return rows;
    }

private:
    static constexpr std::size_t DEEPEST = 32;

    std::int32_t read_size(std::int64_t at) const { return read_word<std::int32_t>(&data_[static_cast<std::size_t>(at)]); }

    // Where the zero behind a name ends, before `stop`.
    std::int64_t after_name(std::int64_t at, std::int64_t stop) const {
        if (at >= stop) return NOT_PLAIN;
        const void* zero = std::memchr(&data_[static_cast<std::size_t>(at)], 0, static_cast<std::size_t>(stop - at));
        return zero ? static_cast<const std::uint8_t*>(zero) - data_.data() + 1 : NOT_PLAIN;
    }

    // Where a document or an array ends.
    std::int64_t end_of_nested(std::int64_t at, std::int64_t stop) const {
        if (stop - at < 5) return NOT_PLAIN;
        const std::int64_t size = read_size(at);
        if (size < 5 || size > stop - at || data_[static_cast<std::size_t>(at + size - 1)] != 0) return NOT_PLAIN;
        return at + size;
    }

    // Where any other value ends; unread: a string's text is left to who decodes it.
    std::int64_t end_of(std::uint8_t type, std::int64_t at, std::int64_t stop, bool unread) const {
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

    // Enters the fields of one document; false where it is not plain.
    bool walk(Fields& found) {
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
            const Bytes name = data_.subspan(static_cast<std::size_t>(at + 1), static_cast<std::size_t>(value - at - 2));
            if (!is_utf8(name)) return false;
            const std::string_view own(reinterpret_cast<const char*>(name.data()), name.size());
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

    std::vector<std::string> path_;
    std::vector<bool> seen_;                    // which names of the path, in one document
    std::array<std::int64_t, DEEPEST> stops_{};  // ends of the documents that the walk is in
    Bytes data_;
};

}  // namespace

void bind_bson(nb::module_& m) {
    m.def(
        "find_fields",
        [](In<std::uint8_t> array, std::vector<std::string> path) {
            return give<Fields, std::int64_t>(unlocked([&] { return Scanner(std::move(path)).find(view(array)); }));
        },
        "array"_a.noconvert(), "path"_a,
        "Return where n documents of a BSON array and their fields lie, int64 (n * 7,): see Fields.\n\n"
        "Raises ValueError where it is no array of documents.");
}

}  // namespace dedup
