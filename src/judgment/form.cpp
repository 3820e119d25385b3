#include "judgment/form.hpp"

namespace dedup::judgment {
namespace {

constexpr float NUMBER_WEIGHT = 6, CIRCLED_WEIGHT = 3, LETTER_WEIGHT = 4, SYMBOL_WEIGHT = 2;
constexpr float BRACKET_WEIGHT = 1, IMAGE_WEIGHT = 8;
constexpr float UNKNOWN_LATIN = 8, UNKNOWN_WORD = 10, UNKNOWN_CHARACTER = 7;  // in place of an IDF
constexpr std::array<std::uint32_t, 1> GAP{U'＿'};

// Behind __ or ( ), or 0.
std::size_t blank_end(const Reader& text, std::size_t i) {
    if (text.is_in(i, U"([")) {
        const std::size_t j = text.skip(i + 1);
        return text.at(j) == (text.at(i) == U'(' ? U')' : U']') ? j + 1 : 0;
    }
    std::size_t end = 0, count = 0;
    for (std::size_t j = i; text.at(j) == U'_'; j = text.skip(end)) {
        end = j + 1;
        count++;
    }
    return count > 1 ? end : 0;
}

// Behind a word, and 's or n't behind it.
std::size_t latin_end(const Reader& text, std::size_t i) {
    while (text.is(i, Class::letter)) i++;
    if (text.at(i) != U'\'' || !text.is_latin(i + 1)) return i;
    for (i += 1; text.is_latin(i);) i++;
    return i;
}

// Whether a number at the start of a clause numbers it: 2. between sentences
bool is_numbering(const Reader& text, std::size_t i, std::size_t end) {
    return end - i <= 2 && text.at(end) == U'.' && text.is(text.skip(end + 1), Class::han);
}

// Whether a mark stands within a number or an abbreviation: 3,4 and e.g
bool is_within(const Reader& text, std::size_t i) {
    if (text.is(i - 1, Class::digit) && text.is(i + 1, Class::digit)) return true;
    return text.at(i) == U'.' && (text.is_plain(i + 1) || text.is(i + 1, Class::han));
}

}  // namespace

void Tokenizer::put(Points text, Kind kind, float weight, std::uint32_t flags, const Known& known) {
    const FormTables::Word word = known.word;
    flags |= word.flags & (NEGATES | LIMITS);
    const auto denies = [&](std::uint32_t point) { return tables_.has(point, FormTables::DENIES); };
    if (!(word.flags & NOT_NEGATING) && std::any_of(text.begin(), text.end(), denies)) flags |= NEGATES;
    if (emphasised_) flags |= EMPHASISED;
    const std::size_t start = to_.points.size() - to_.places.back().points;
    const auto [begin, end] = range_of(start, start + text.size());
    append(to_.points, text);
    const std::uint64_t key = word.number ? word.number : known.key;
    to_.inner.push_back({key, begin, end, weight, clause_, static_cast<std::uint8_t>(flags), kind});
    fresh_ = true;
}

void Tokenizer::put_word(Points text, std::int32_t node, std::uint32_t flags, float unknown, const Known& known) {
    const float idf = node >= 0 ? tables_.weights[node] : 0;
    put(text, Kind::word, idf > 0 ? idf : unknown, flags, known);
}

void Tokenizer::put_latin(Points text) {
    const Known known = look_up(text);
    if (!han_ && known.word.flags & ENGLISH_FUNCTION) return put(text, Kind::function, 0, 0, known);
    if (text.size() == 1 || known.word.flags & FORMULA) return put(text, Kind::letter, LETTER_WEIGHT, LATIN, known);
    const bool in_plane = std::all_of(text.begin(), text.end(), [](std::uint32_t c) { return c < PLANE; });
    put_word(text, in_plane ? tables_.lexicon->find(text) : Trie::ABSENT, LATIN, UNKNOWN_LATIN, known);
}

void Tokenizer::put_han(Points run) {
    const auto words = segmenter_.segment(run);
    for (std::size_t k = 0; k + 1 < words.size(); k++) {
        const Points text = run.subspan(words[k].start, words[k + 1].start - words[k].start);
        const std::int32_t node = words[k].node >= 0 ? words[k].node : tables_.lexicon->find(text);
        const std::uint32_t flags = node >= 0 && tables_.proper[node] ? PROPER : 0;
        const Known known = look_up(text);
        if (known.word.flags & FUNCTION)
            put(text, Kind::function, 0, flags, known);
        else
            put_word(text, node, flags, text.size() > 1 ? UNKNOWN_WORD : UNKNOWN_CHARACTER, known);
    }
}

void Tokenizer::add(const Outline& outline) {
    Forms::Place& place = to_.places.back();
    place.facts = outline.facts;
    han_ = outline.facts & HAN;
    image_ = 0;
    place.stem = read(outline, outline.stem);
    for (const Range choice : outline.choices) to_.choices.push_back(read(outline, choice));
    place.answer = read(outline, outline.answer);
    place.notes = read(outline, outline.notes);
    to_.end_one();
}

Range Tokenizer::read(const Outline& outline, Range part) {
    const Reader text{tables_, outline.text(part)};
    const auto count = [&] { return to_.inner.size() - to_.places.back().inner; };
    const std::size_t begin = count();
    clause_ = 0;
    fresh_ = emphasised_ = false;
    mark_brackets(text, opened_, keep_);
    for (std::size_t i = 0, end; i < text.size(); i = end) {
        end = i + 1;
        const std::uint32_t c = text.at(i);
        const Points itself = text.text.subspan(i, 1);
        switch (text.kind(i)) {
            case Class::digit:
                end = number_end(text, i);
                if (clause_ && !fresh_ && is_numbering(text, i, end)) break;
                number_.clear();
                write_number(text.text.subspan(i, end - i), number_);
                put(number_, Kind::number, NUMBER_WEIGHT);
                break;
            case Class::circled: put(itself, Kind::number, CIRCLED_WEIGHT); break;
            case Class::letter:
                end = latin_end(text, i);
                put_latin(text.text.subspan(i, end - i));
                break;
            case Class::han:
                while (text.is(end, Class::han)) end++;
                put_han(text.text.subspan(i, end - i));
                break;
            case Class::space: break;
            default:
                if (c == IMAGE_MARK && image_ < outline.images.size()) {
                    put(outline.text(outline.images[image_++]), Kind::image, IMAGE_WEIGHT);
                } else if (c == OPEN_MARK || c == CLOSE_MARK) {
                    emphasised_ = c == OPEN_MARK;
                } else if (const std::size_t behind = blank_end(text, i)) {
                    put(GAP, Kind::blank, 0);
                    end = behind;
                } else if (text.is_in(i, U"()[]")) {
                    if (keep_[i]) put(itself, Kind::symbol, BRACKET_WEIGHT);
                } else if (text.is(i, Class::sign) && is_operator(text, i)) {
                    put(itself, Kind::symbol, SYMBOL_WEIGHT);
                }
        }
        if (fresh_ && end == i + 1 && tables_.has(c, FormTables::PAUSES) && !is_within(text, i)) {
            clause_++;
            fresh_ = false;
        }
    }
    return range_of(begin, count());
}

}  // namespace dedup::judgment
