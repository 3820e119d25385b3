// Makes tokens of outlines. Words of Han characters are jieba's.
#pragma once
#include "fingerprint/segmentation.hpp"
#include "judgment/outline.hpp"

namespace dedup::judgment {

class Tokenizer {
public:
    Tokenizer(const FormTables& tables, Forms& to) : tables_(tables), to_(to), segmenter_(*tables.lexicon) {}
    void add(const Outline& outline);

private:
    // What is known of a token's text.
    struct Known {
        std::uint64_t key;
        FormTables::Word word;
    };
    Known look_up(Points text) const {
        const std::uint64_t key = digest(text);
        return {key, tables_.word(key)};
    }
    Range read(const Outline& outline, Range part);
    void put(Points text, Kind kind, float weight, std::uint32_t flags, const Known& known);
    void put(Points text, Kind kind, float weight) {
        put(text, kind, weight, 0, kind == Kind::image ? Known{digest(text), {}} : look_up(text));
    }
    void put_word(Points text, std::int32_t node, std::uint32_t flags, float unknown, const Known& known);
    void put_latin(Points text);
    void put_han(Points run);

    const FormTables& tables_;
    Forms& to_;
    Segmenter segmenter_;
    std::vector<std::size_t> opened_;
    std::vector<bool> keep_;
    Buffer number_;
    std::size_t image_ = 0;
    std::uint32_t clause_ = 0;
    bool fresh_ = false;  // the clause has a token
    bool emphasised_ = false;
    bool han_ = false;
};

}  // namespace dedup::judgment
