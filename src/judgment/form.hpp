// Makes tokens of parsed_texts. Words of Han characters are jieba's.
#pragma once
#include "fingerprint/segmentation.hpp"
#include "judgment/parsed_text.hpp"

namespace dedup::judgment {

class Tokenizer {
public:
    Tokenizer(const FormTables& tables, Forms& to) : tables_(tables), to_(to), segmenter_(*tables.lexicon) {}
    void add(const ParsedText& parsed);

private:
    Range read(const ParsedText& parsed, Range part);
    Range write(Points text);
    void put(Range text, Kind kind, float weight, std::uint32_t flags, std::uint64_t key);
    void put(Points text, Kind kind, float weight);
    void end_line(std::size_t count);
    void put_image(Points address);
    void put_latin(Points text);
    void put_han(Points run);
    bool denies(Points text) const;
    std::uint32_t take_signs();
    static bool is_polar(Points run, std::size_t i);

    const FormTables& tables_;
    Forms& to_;
    Segmenter segmenter_;
    std::vector<std::size_t> opened_;
    std::vector<bool> keep_;
    Buffer number_, run_, signs_;
    std::size_t image_ = 0;
    std::uint32_t clause_ = 0;
    Layout layout_;
    std::size_t line_ = 0;  // the first token of the line
    bool fresh_ = false;  // the clause has a token
    bool emphasised_ = false;
    bool listed_ = false;  // 、 stands before
    std::size_t arguments_ = 0;  // where those of a function end
    bool han_ = false;
};

}  // namespace dedup::judgment
