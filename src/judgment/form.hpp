// Reads texts into forms.
#pragma once
#include "fingerprint/segmentation.hpp"
#include "judgment/formulas.hpp"

namespace dedup::judgment {

// Makes tokens of texts. Words of Han characters are jieba's.
class Tokenizer {
public:
    Tokenizer(const FormTables& tables, Forms& to) : tables_(tables), to_(to), segmenter_(*tables.lexicon) {}

    // From here on tokens belong to a new form.
    void begin_form(bool han) {
        points_ = to_.points.size();
        tokens_ = to_.tokens.size();
        han_ = han;
    }
    // Adds the tokens of a part to the form.
    Range read(const Reader& text);

private:
    void put(Points text, Kind kind, float weight, std::uint32_t flags = 0);
    void put_word(Points text, Kind kind, std::int32_t node, std::uint32_t flags, float unknown);
    void put_latin(Points text);
    void put_han(Points run);
    void put_number(const Reader& text, std::size_t begin, std::size_t end);

    const FormTables& tables_;
    Forms& to_;
    Segmenter segmenter_;
    Flattener flattener_;
    std::vector<std::size_t> opened_;
    std::vector<bool> keep_;
    Buffer number_;
    std::size_t points_ = 0, tokens_ = 0;  // where the form begins
    std::uint32_t clause_ = 0;
    bool fresh_ = false;  // the clause has a token
    bool emphasised_ = false;
    bool han_ = false;
};

class FormReader {
public:
    FormReader(const FormTables& tables, Forms& to) : tables_(tables), to_(to), tokenizer_(tables, to) {
        to_.places.push_back({});
    }
    void read(Points text);

private:
    void fold(Points text);

    const FormTables& tables_;
    Forms& to_;
    Tokenizer tokenizer_;
    ChoiceFinder finder_;
    NoteSplitter splitter_;
    Buffer text_, rest_, notes_;
};

// What a form asks, whatever the order of its choices: a text to sketch. Appended to `out`.
void append_normal(const Form& form, const FormTables& tables, Buffer& out);

}  // namespace dedup::judgment
