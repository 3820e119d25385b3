#include "judgment/form.hpp"

namespace dedup::judgment {
namespace {

constexpr float NUMBER_WEIGHT = 6, CIRCLED_WEIGHT = 3, LETTER_WEIGHT = 4, SYMBOL_WEIGHT = 2, BRACKET_WEIGHT = 1, IMAGE_WEIGHT = 8;
constexpr float UNKNOWN_LATIN = 8, UNKNOWN_WORD = 10, UNKNOWN_CHARACTER = 7;  // in place of an IDF
constexpr std::size_t TAIL = 60;  // how near to the end of a stem it says what is asked
constexpr std::array<std::uint32_t, 1> GAP{U'＿'};

// Behind __ or ( ), or 0.
std::size_t blank_end(const Reader& text, std::size_t i) {
    if (text.is_in(i, U"([")) {
        const std::size_t j = text.skip(i + 1);
        return text.at(j) == (text.at(i) == U'(' ? U')' : U']') ? j + 1 : 0;
    }
    std::size_t end = 0, count = 0;
    for (std::size_t j = i; text.at(j) == U'_'; j = text.skip(end)) end = j + 1, count++;
    return count > 1 ? end : 0;
}

// Behind 1,234,567.8.
std::size_t number_end(const Reader& text, std::size_t i) {
    const std::size_t n = text.digits(i);
    std::size_t end = i + n;
    while (n <= 3 && text.at(end) == U',' && text.digits(end + 1) == 3) end += 4;
    const std::size_t decimals = text.at(end) == U'.' ? text.digits(end + 1) : 0;
    return decimals ? end + 1 + decimals : end;
}

// Behind a word, and 's or n't behind it.
std::size_t latin_end(const Reader& text, std::size_t i) {
    while (text.is(i, Class::letter)) i++;
    if (text.at(i) != U'\'' || !text.is_latin(i + 1)) return i;
    for (i += 1; text.is_latin(i);) i++;
    return i;
}

// Whether a mark stands within a number or an abbreviation: 3,4 and e.g
bool is_within(const Reader& text, std::size_t i) {
    if (text.is(i - 1, Class::digit) && text.is(i + 1, Class::digit)) return true;
    return text.at(i) == U'.' && (text.is_plain(i + 1) || text.is(i + 1, Class::han));
}

std::size_t find_last(Points text, std::uint32_t c) {
    std::size_t i = text.size();
    while (i > 0 && text[i - 1] != c) i--;
    return i;  // behind it, 0 if it is not there
}

// The file's name where it is one by itself, else the address without the protocol.
Points image_key(const Reader& address) {
    static constexpr std::u32string_view DATA = U"data:", NAMELESS = U"image";
    Points whole = address.text;
    if (!(whole.size() >= DATA.size() && std::equal(DATA.begin(), DATA.end(), whole.begin())))
        whole = whole.first(std::find_if(whole.begin(), whole.end(), [](std::uint32_t c) { return c == U'?' || c == U'#'; }) - whole.begin());
    const Reader name{address.tables, whole.subspan(find_last(whole, U'/'))};
    const std::size_t dot = find_last(name.text, U'.');
    bool digit = false;
    for (std::size_t i = 0; i < name.size(); i++) digit |= name.is(i, Class::digit);
    if ((dot > 1 ? dot - 1 : name.size()) >= 8 && digit) return name.text;
    for (std::size_t i = 0; i + 2 < whole.size(); i++) {
        if (whole[i] == U'/' && whole[i + 1] == U'/') return whole.subspan(i + 2);
    }
    static const Buffer nameless(NAMELESS.begin(), NAMELESS.end());
    return whole.empty() ? Points(nameless) : whole;
}

}  // namespace

void Tokenizer::put(Points text, Kind kind, float weight, std::uint32_t flags) {
    const FormTables::Word word = kind == Kind::image ? FormTables::Word{} : tables_.word(text);
    flags |= word.flags & (NEGATES | LIMITS | TRUTH);
    const auto& negating = tables_.negating;
    if (!(word.flags & NOT_NEGATING) && std::find_first_of(text.begin(), text.end(), negating.begin(), negating.end()) != text.end())
        flags |= NEGATES;
    if (emphasised_) flags |= EMPHASISED;
    const std::size_t begin = to_.points.size() - points_;
    append(to_.points, text);
    to_.tokens.push_back({word.number ? word.number : digest(text), static_cast<std::uint32_t>(begin),
                          static_cast<std::uint32_t>(begin + text.size()), weight, clause_,
                          static_cast<std::uint16_t>(word.number), static_cast<std::uint16_t>(flags), kind});
    fresh_ = true;
}

void Tokenizer::put_word(Points text, Kind kind, std::int32_t node, std::uint32_t flags, float unknown) {
    const float idf = node >= 0 ? tables_.weights[node] : 0;
    put(text, kind, kind == Kind::function ? 0 : idf > 0 ? idf : unknown, flags);
}

void Tokenizer::put_latin(Points text) {
    const std::uint32_t meaning = tables_.word(text).flags;
    if (!han_ && meaning & ENGLISH_FUNCTION) return put(text, Kind::function, 0);
    if (text.size() == 1 || meaning & FORMULA) return put(text, Kind::letter, LETTER_WEIGHT, LATIN);
    const bool in_plane = std::all_of(text.begin(), text.end(), [](std::uint32_t c) { return c < PLANE; });
    put_word(text, Kind::word, in_plane ? tables_.lexicon->find(text) : Trie::ABSENT, LATIN | TERM, UNKNOWN_LATIN);
}

void Tokenizer::put_han(Points run) {
    const auto words = segmenter_.segment(run);
    for (std::size_t k = 0; k + 1 < words.size(); k++) {
        const Points text = run.subspan(words[k].start, words[k + 1].start - words[k].start);
        const std::int32_t node = words[k].node >= 0 ? words[k].node : tables_.lexicon->find(text);
        const Kind kind = tables_.word(text).flags & FUNCTION ? Kind::function : Kind::word;
        put_word(text, kind, node, node >= 0 ? tables_.speech[node] : std::uint32_t{TERM},
                 text.size() > 1 ? UNKNOWN_WORD : UNKNOWN_CHARACTER);
    }
}

// 3.0 is 3, 007 is 7, 1,000 is 1000.
void Tokenizer::put_number(const Reader& text, std::size_t begin, std::size_t end) {
    Buffer& out = number_;
    out.clear();
    std::copy_if(text.text.begin() + begin, text.text.begin() + end, std::back_inserter(out), [](std::uint32_t c) { return c != U','; });
    const auto point = std::find(out.begin(), out.end(), U'.');
    if (point != out.end()) {
        while (out.back() == U'0') out.pop_back();
        if (out.back() == U'.') out.pop_back();
    }
    const std::size_t whole = std::find(out.begin(), out.end(), U'.') - out.begin();
    std::size_t zeros = 0;
    while (zeros + 1 < whole && out[zeros] == U'0') zeros++;
    put(Points(out).subspan(zeros), Kind::number, NUMBER_WEIGHT);
}

Range Tokenizer::read(const Reader& source) {
    const Reader text{tables_, flattener_.flatten(source)};
    const std::size_t begin = to_.tokens.size() - tokens_;
    std::size_t image = 0;
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
                put_number(text, i, end);
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
                if (c == IMAGE_MARK) {
                    put(image_key({tables_, flattener_.images[image++]}), Kind::image, IMAGE_WEIGHT);
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
        if (fresh_ && end == i + 1 && text.is_in(i, U",;。?!.:\n") && !is_within(text, i)) {
            clause_++;
            fresh_ = false;
        }
    }
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(to_.tokens.size() - tokens_)};
}

// Characters as they are compared; superscripts and subscripts as ^{...} and _{...}.
void FormReader::fold(Points text) {
    using Tables = FormTables;
    text_.clear();
    std::uint32_t script = 0;
    for (const std::uint32_t point : text) {
        std::uint32_t folded = point;
        if (point < PLANE) folded = tables_.folded[point];
        if (Tables::MATHEMATICAL <= point && point < Tables::MATHEMATICAL_END) folded = tables_.folded[PLANE + point - Tables::MATHEMATICAL];
        const std::uint32_t now = folded & (Tables::RAISED | Tables::LOWERED);
        if (now != script) {
            if (script) text_.push_back(U'}');
            if (now) text_.insert(text_.end(), {now == Tables::RAISED ? U'^' : U'_', U'{'});
            script = now;
        }
        if (folded & Tables::EXPANDED)
            append(text_, tables_.expansions[folded & Tables::POINT]);
        else
            text_.push_back(folded & Tables::POINT);
    }
    if (script) text_.push_back(U'}');
}

void FormReader::read(Points text) {
    fold(text);
    rest_.clear(), notes_.clear();
    take_brackets({tables_, text_}, rest_, notes_);
    text_.clear();
    const std::size_t taken = notes_.size();
    take_sentences({tables_, rest_}, text_, notes_);
    if (Reader{tables_, text_}.letters() < 4) {
        std::swap(text_, rest_);
        notes_.resize(taken);
    }
    splitter_.split({tables_, text_}, finder_, notes_);
    const Reader body = strip_opening({tables_, splitter_.body});
    const auto choices = finder_.find(body);
    const Reader stem = body.part(0, finder_.stem);
    const Reader tail = stem.part(stem.size() - std::min(stem.size(), TAIL), stem.size());
    bool han = false;
    for (std::size_t i = 0; i < body.size() && !han; i++) han = body.is(i, Class::han);

    Forms::Place& place = to_.places.back();
    if (splitter_.explained) place.facts |= EXPLAINED;
    if (!choices.empty() || tail.holds(ASKS_FOR)) place.facts |= QUESTION;
    if (!choices.empty() && tail.holds(CHOOSES)) place.facts |= SELECTS;
    if (han) place.facts |= HAN;
    tokenizer_.begin_form(han);
    place.stem = tokenizer_.read(stem);
    for (const Range choice : choices) to_.choices.push_back(tokenizer_.read(body.part(choice.begin, choice.end)));
    place.answer = tokenizer_.read({tables_, splitter_.answer});
    place.notes = tokenizer_.read({tables_, notes_});
    to_.places.push_back({to_.points.size(), to_.tokens.size(), to_.choices.size(), {}, {}, {}, 0});
}

void append_normal(const Form& form, const FormTables& tables, Buffer& out) {
    const auto append_content = [&](Buffer& to, Range range) {
        const std::size_t start = to.size();
        const auto is_plain = [&](std::uint32_t c) { return Reader{tables, Points(&c, 1)}.is_plain(0); };
        for (const Token& token : form.of(range)) {
            if (token.kind == Kind::function || token.kind == Kind::blank) continue;
            const Points text = form.text(token);
            if (to.size() > start && is_plain(to.back()) && is_plain(text[0])) to.push_back(U' ');
            append(to, text);
        }
    };
    append_content(out, form.stem);
    std::vector<Buffer> choices(form.choices.size());
    for (std::size_t k = 0; k < choices.size(); k++) append_content(choices[k], form.choices[k]);
    std::sort(choices.begin(), choices.end());
    for (const Buffer& choice : choices) {
        out.push_back(U'\n');
        append(out, choice);
    }
}

}  // namespace dedup::judgment
