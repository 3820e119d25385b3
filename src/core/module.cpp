// The extension module `dedup_job._core`, and the entry points of core: byte strings copied, fields of BSON found.
//
// `find_fields` locates fields in all documents of a server's reply at once. A plain document needs no decoder: it is
// well-formed, of common types, its texts are UTF-8, and neither `_id` nor a name on the path to the text is repeated.
// All others are left to the decoder. Format: bsonspec.org, version 1.1.
#include <nanobind/stl/vector.h>

#include "core/bind.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

void copy_strings(const StringArrays& arrays, nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> to, In<std::int64_t> at) {
    const Strings strings = strings_of(arrays);
    const auto offsets = view(at);
    if (offsets.size() != strings.size()) refuse("as many offsets as strings are needed");
    Unlocked unlocked;
    for (std::size_t i = 0; i < strings.size(); i++) {
        const auto string = strings[i];
        if (string.empty()) continue;
        const auto offset = static_cast<std::size_t>(offsets[i]);
        if (string.size() > to.size() || offset > to.size() - string.size())
            refuse("string " + std::to_string(i) + " does not fit");
        std::memcpy(to.data() + offset, string.data(), string.size());
    }
}

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

// Byte ranges of one document: `start` to `end` the document, `key` to `key_end` its `_id` field, `text` to `text_end` the
// value of its text, and the text's length in characters. key_end is 0 unless the document is plain. text_end is 0, too,
// if the text is no string or no UTF-8, or if there is a field `dedup`; NOTHING if the text is missing or null.
constexpr std::int64_t NOTHING = -1;

struct Fields {
    std::int64_t start = 0, end = 0, key = 0, key_end = 0, text = 0, text_end = 0, characters = 0;
};

class Scanner {
public:
    // path: the names that lead to the text.
    explicit Scanner(std::vector<std::string> path) : path_(std::move(path)), seen_(path_.size() + 1) {}

    // The fields of all documents of a BSON array. Raises ValueError if the bytes are no array of documents.
    std::vector<Fields> find(Bytes array) {
        const auto check = [](bool is_sound) {
            if (!is_sound) refuse("the server's reply is no array of documents");
        };
        data_ = array;
        std::vector<Fields> rows;
        const std::int64_t last = std::ssize(array) - 1;
        check(last >= 4 && read_size(0) == std::ssize(array) && array.back() == 0);
        for (std::int64_t at = 4; at < last;) {
            check(array[at] == DOCUMENT);
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

    std::int32_t read_size(std::int64_t at) const { return read_word<std::int32_t>(&data_[at]); }

    // The offset behind a name and its zero, which come before `stop`.
    std::int64_t after_name(std::int64_t at, std::int64_t stop) const {
        const void* zero = at < stop ? std::memchr(&data_[at], 0, stop - at) : nullptr;
        return zero ? static_cast<const std::uint8_t*>(zero) - data_.data() + 1 : NOT_PLAIN;
    }

    // The end of a document or an array.
    std::int64_t end_of_nested(std::int64_t at, std::int64_t stop) const {
        if (stop - at < 5) return NOT_PLAIN;
        const std::int64_t size = read_size(at);
        return size < 5 || size > stop - at || data_[at + size - 1] != 0 ? NOT_PLAIN : at + size;
    }

    // The end of any other value; unread: the UTF-8 of a string is not checked.
    std::int64_t end_of(std::uint8_t type, std::int64_t at, std::int64_t stop, bool unread) const {
        if (const std::int64_t width = width_of(type); width != NOT_PLAIN)
            return at + width > stop || (type == BOOL && data_[at] > 1) ? NOT_PLAIN : at + width;
        if (stop - at < 5) return NOT_PLAIN;
        const std::int64_t size = read_size(at);
        if (type == STRING && 0 < size && size <= stop - at - 4) {
            const std::int64_t end = at + 4 + size;
            return data_[end - 1] == 0 && (unread || is_utf8(data_.subspan(at + 4, size - 1))) ? end : NOT_PLAIN;
        }
        const bool is_binary = type == BINARY && 0 <= size && size <= stop - at - 5 && data_[at + 4] != OLD_BINARY;
        return is_binary ? at + 5 + size : NOT_PLAIN;
    }

    // Enters the fields of one document; false unless it is plain.
    bool walk(Fields& row) {
        std::size_t depth = 0, matched = 0;  // nesting, and how many of the open documents lie on the path
        bool has_dedup = false, is_no_text = false;
        std::fill(seen_.begin(), seen_.end(), false);
        stops_[0] = row.end - 1;
        for (std::int64_t at = row.start + 4;;) {
            if (at == stops_[depth]) {
                if (depth == 0) break;
                depth--;
                matched = std::min(matched, depth);
                at++;
                continue;
            }
            const std::uint8_t type = data_[at];
            const std::int64_t stop = stops_[depth], value = after_name(at + 1, stop);
            if (value == NOT_PLAIN || data_[at + 1] == '$') return false;  // '$' begins the names of a DBRef
            const Bytes name = data_.subspan(at + 1, value - at - 2);
            if (!is_utf8(name)) return false;
            const std::string_view own(reinterpret_cast<const char*>(name.data()), name.size());
            const bool is_sought = matched == depth && matched < path_.size() && own == path_[matched];
            const bool ends_path = is_sought && matched == path_.size() - 1, is_text = ends_path && type == STRING;
            const bool is_nested = type == DOCUMENT || type == ARRAY;
            const std::int64_t end = is_nested ? end_of_nested(value, stop) : end_of(type, value, stop, is_text);
            if (end == NOT_PLAIN || (is_sought && seen_[matched])) return false;
            if (is_sought) seen_[matched] = true;
            if (is_text) row.text = value, row.text_end = end;
            is_no_text |= ends_path && !is_text && type != NULL_;
            if (depth == 0 && own == "_id") {
                if (row.key_end != 0) return false;
                row.key = at, row.key_end = end;
            }
            has_dedup |= depth == 0 && own == "dedup";
            if (!is_nested) {
                at = end;
                continue;
            }
            if (depth + 1 == DEEPEST) return false;
            matched += is_sought && type == DOCUMENT && matched + 1 < path_.size();
            depth++;
            stops_[depth] = end - 1;
            at = value + 4;
        }
        if (has_dedup) row.text = row.text_end = 0;
        else if (row.text_end == 0 && !is_no_text) row.text_end = NOTHING;
        if (row.text_end > 0) {  // the value is a length of four bytes, the text and a zero
            row.characters = characters_of_utf8(data_.subspan(row.text + 4, row.text_end - row.text - 5));
            if (row.characters == NOT_UTF8) row.text = row.text_end = row.characters = 0;
        }
        return row.key_end > 0;
    }

    std::vector<std::string> path_;
    std::vector<bool> seen_;                     // the names of the path, in one document
    std::array<std::int64_t, DEEPEST> stops_{};  // ends of the open documents
    Bytes data_;
};

auto find_fields(In<std::uint8_t> array, std::vector<std::string> path) {
    return give<Fields, std::int64_t>(unlocked([&] { return Scanner(std::move(path)).find(view(array)); }));
}

}  // namespace
}  // namespace dedup

NB_MODULE(_core, m) {
    m.doc() = "Compiled code of dedup: functions over batches, without the interpreter's lock.";
    m.def("copy_strings", &dedup::copy_strings, "strings"_a.noconvert(), "to"_a.noconvert(), "at"_a.noconvert(),
          "Copy string i to offset at[i] of another array. Raises ValueError for a string that does not fit.");
    m.def("find_fields", &dedup::find_fields, "array"_a.noconvert(), "path"_a,
          "Return the byte ranges of n documents of a BSON array and of their fields, int64 (n * 7,): see Fields.\n\n"
          "Raises ValueError if it is no array of documents.");
    dedup::bind_cleaning(m);
    dedup::bind_fingerprint(m);
    dedup::bind_index(m);
    dedup::bind_decision(m);
    dedup::bind_judgment(m);
}
