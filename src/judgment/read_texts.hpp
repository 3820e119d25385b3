// Texts as they are compared: read into parts, in one notation; cut into tokens; and the forms of those that were needed
// lately.
#pragma once
#include <functional>
#include <memory>
#include <mutex>

#include "core/bind.hpp"
#include "judgment/profile.hpp"

namespace dedup::judgment {

class ReadTexts {
public:
    // Raises ValueError for what is not UTF-8; lone surrogates pass.
    ReadTexts(const Strings& texts, const FormTables& tables);

    std::size_t size() const { return parsed_.size(); }
    // Characters of a text.
    std::size_t points(std::size_t row) const { return parsed_[row].points.size(); }
    ParsedText operator[](std::size_t row) const { return parsed_[row]; }
    // The text itself, in UTF-8.
    std::span<const std::uint8_t> text(std::size_t row) const {
        return std::span(utf8_).subspan(offsets_[row], offsets_[row + 1] - offsets_[row]);
    }
    // The canonical texts, written at the first call.
    const OwnTexts& canonical(const FormTables& tables, const Spellings& spellings);
    // ... or null before that.
    const OwnTexts* known_canonical() const;

    // Forms of texts are made, asked for and forgotten by who holds `in_use`.
    std::mutex& in_use() const { return in_use_; }
    static constexpr std::size_t MOST_POINTS = 1 << 21;
    // Forgets all forms where they take much room.
    void make_room();
    // Makes the forms of some rows that have none.
    void make_forms(const FormTables& tables, const Relations& relations, std::vector<std::size_t> rows, std::size_t threads);
    Form form(std::size_t row) const;

private:
    static constexpr std::uint32_t NONE = 0xFFFFFFFF;
    struct Place {
        std::uint32_t part, place;
    };
    struct Part {
        Forms forms;
        std::vector<Profile> profiles;
    };
    ParsedTexts parsed_;
    std::vector<std::uint8_t> utf8_;
    std::vector<std::size_t> offsets_{0};
    std::unique_ptr<const OwnTexts> canonical_;
    std::vector<Part> parts_;
    std::vector<Place> places_;  // of forms, by row
    std::size_t held_ = 0;       // characters of texts with forms
    mutable std::mutex in_use_, writing_;
};

// Calls take(form) for each text; the form has no profile.
void each_form(const ReadTexts& texts, const FormTables& tables, const std::function<void(const Form&)>& take);

// Appends what a text asks, whatever the order of its choices: a text to sketch.
void write_canonical(const ParsedText& parsed, const FormTables& tables, const Spellings& spellings, Buffer& out);

}  // namespace dedup::judgment
