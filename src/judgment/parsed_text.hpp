// Reads texts into parsed_texts: parts of a text, without numbering, in one notation.
#pragma once
#include "judgment/formulas.hpp"
#include "judgment/relations.hpp"

namespace dedup::judgment {

class TextParser {
public:
    TextParser(const FormTables& tables, ParsedTexts& to) : tables_(tables), to_(to) {}
    void read(Points text);

private:
    std::uint32_t join(Points text, std::size_t i, std::span<std::uint32_t> before) const;
    Points keep_capitals(Points text);
    void fold(Points text);
    Range add(Points points);
    Range write(const Searched& part);

    const FormTables& tables_;
    ParsedTexts& to_;
    ChoiceFinder finder_;
    NoteSplitter splitter_;
    Flattener flattener_;
    SearchedText text_, rest_, body_, notes_;
    Buffer images_, cased_;
    std::vector<Range> runs_;
    std::vector<std::size_t> image_ends_;
};

// Writes what an parsed asks, whatever the order of its choices: a text to sketch.
class CanonicalWriter {
public:
    CanonicalWriter(const FormTables& tables, const Spellings& spellings) : tables_(tables), spellings_(spellings) {}
    void append(const ParsedText& parsed, Buffer& out);

private:
    void write(const ParsedText& parsed, Range part, Buffer& out);

    const FormTables& tables_;
    const Spellings& spellings_;
    std::size_t image_ = 0;
    Buffer content_;
    std::vector<Buffer> choices_;
};

}  // namespace dedup::judgment
