// Where the fields of plain documents lie, for all documents of a server's reply at once.
//
// A plain document needs no decoder: it is well-formed, of common types, its texts are UTF-8, and neither
// `_id` nor a name on the way to the text comes twice. All others are left to the decoder. Format:
// bsonspec.org, version 1.1.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/strings.hpp"

namespace dedup::bson {

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

    // Returns the fields of all documents of a BSON array; none where it is no array of documents.
    std::optional<std::vector<Fields>> find(Bytes array);

private:
    bool walk(Fields& found);
    std::int64_t end_of(std::uint8_t kind, std::int64_t at, std::int64_t stop, bool unread) const;
    std::int64_t end_of_nested(std::int64_t at, std::int64_t stop) const;
    std::int64_t after_name(std::int64_t at, std::int64_t stop) const;
    std::string_view name(std::int64_t start, std::int64_t end) const;
    std::int32_t read_size(std::int64_t at) const;

    static constexpr std::size_t DEEPEST = 32;

    std::vector<std::string> path_;
    std::vector<bool> seen_;                    // which names of the path, in one document
    std::array<std::int64_t, DEEPEST> stops_{};  // ends of the documents that the walk is in
    Bytes data_;
};

}  // namespace dedup::bson
