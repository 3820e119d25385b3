// Forms of parsed texts.
#include "judgment/judge.hpp"

#include "core/system.hpp"
#include "fingerprint/jieba.hpp"
#include "judgment/formulas.hpp"
#include "judgment/notes.hpp"

namespace dedup::judgment {
namespace {

constexpr float NUMBER_WEIGHT = 6, CIRCLED_WEIGHT = 3, LETTER_WEIGHT = 4, SYMBOL_WEIGHT = 2;
constexpr float BRACKET_WEIGHT = 1, IMAGE_WEIGHT = 8;
constexpr float UNKNOWN_LATIN = 8, UNKNOWN_WORD = 10, UNKNOWN_CHARACTER = 7;  // in place of an IDF
constexpr std::size_t MOST_ARGUMENTS = 80;  // characters
constexpr std::size_t NO_QUOTE = std::numeric_limits<std::size_t>::max();
constexpr std::array<std::uint32_t, 1> GAP{U'＿'}, WHETHER{U'?'};  // behind A-not-A
// Flags that the tables say of a word.
constexpr std::uint32_t OF_WORDS = NEGATES | LIMITS | GRAMMAR | JOINS | EQUALS | ASKS | TASK | POLAR;

// The end of __ or ( ) at i, or 0.
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

// The end of a word, with 's or n't.
std::size_t latin_end(const Reader& text, std::size_t i) {
    i = text.behind(i, Class::letter);
    if (text.at(i) != U'\'' || !text.is_latin(i + 1)) return i;
    for (i += 1; text.is_latin(i);) i++;
    return i;
}

// Whether a number at the start of a clause numbers it: 2. between sentences.
bool is_numbering(const Reader& text, std::size_t i, std::size_t end) {
    return end - i <= 2 && text.at(end) == U'.' && text.is(text.skip(end + 1), Class::han) && !goes_on(text, end + 1, JOINT);
}

// Whether a text asks for something: its last sentence ends with a question mark, or is cut off; or it has a word such as
// 什么 or 计算, in a long text at its start. A short text may ask before a short rest, or have a gap.
bool asks(const Reader& text, bool is_long) {
    std::size_t end = text.size();
    while (end > 0 && (text.is(end - 1, Class::space) || text.is_in(end - 1, U"。!"))) end--;
    if (text.is_in(end - 1, U"?是为=_")) return true;
    for (std::size_t i = 0; i < text.size() && !is_long; i++) {
        const bool asked = text.at(i) == U'?' && 4 * (text.size() - i) <= text.size() + 80;
        if (asked || (text.is_in(i, U"_([") && blank_end(text, i))) return true;
    }
    std::size_t begin = end;
    while (begin > 0 && !text.is_in(begin - 1, U"\n。!?")) begin--;
    begin = text.skip(begin);
    const Reader last = text.part(std::min(begin, end), end);
    if (!is_long) return last.holds(ASK);
    while (begin < end && text.is_in(begin, U"(0123456789) ")) begin++;  // (2) 求证
    for (std::size_t i = 2; i < last.size(); i++) {
        const bool lists = last.is_in(i, U" (①\n") && last.at(i - 1) == U'是' && last.at(i - 2) == U'的';  // 正确的是 ①
        if (lists) return true;
    }
    return text.phrase(begin, ASK).length;
}

// Whether a mark is within a number or an abbreviation: 3,4 and e.g
bool is_within(const Reader& text, std::size_t i) {
    if (text.is(i - 1, Class::digit) && text.is(i + 1, Class::digit)) return true;
    return text.at(i) == U'.' && (text.is_plain(i + 1) || text.is(i + 1, Class::han));
}

// Makes tokens of parsed texts. Words of Han characters are jieba's.
class Tokenizer {
public:
    Tokenizer(const FormTables& tables, Forms& to) : tables_(tables), to_(to), segmenter_(*tables.lexicon) {}

    void add(const ParsedText& parsed) {
        Forms::Slot& slot = to_.slots.back();
        parsed_ = &parsed;
        image_ = 0;
        slot.stem = read(parsed.stem);
        const Reader stem{tables_, parsed.text(parsed.stem)};
        layout_.provisions += parsed.layout.provisions;
        layout_.is_long = layout_.lines > 3 || stem.size() > 300;
        layout_.asks = asks(stem, layout_.is_long);
        slot.layout = layout_;
        for (const Range choice : parsed.choices) to_.choices.push_back(read(choice));
        slot.answer = read(parsed.answer);
        slot.explanation = read(parsed.explanation);
        slot.notes = read(parsed.notes);
        to_.end_one();
    }

private:
    void put(Range text, Kind kind, float weight, std::uint32_t flags, std::uint64_t key) {
        if (emphasised_) flags |= EMPHASISED;
        if (listed_) flags |= LISTED;
        if (arguments_) flags |= ARGUMENT;
        to_.inner.push_back({key, text.begin, text.end, weight, clause_, static_cast<std::uint16_t>(flags), kind, take_signs()});
        fresh_ = true;
        listed_ = false;
    }

    std::uint32_t take_signs() {
        const std::uint32_t found = signs_.empty() ? 0 : static_cast<std::uint32_t>(digest(signs_)) | 1;
        signs_.clear();
        return found;
    }

    void put(Points text, Kind kind, float weight) {
        const FormTables::Word word = tables_.word(text);
        put(to_.write(text), kind, weight, word.flags & OF_WORDS, word.key);
    }

    // No such word has an IDF: jieba's list is of Han characters alone.
    void put_latin(Points text) {
        const FormTables::Word word = tables_.word(text);
        static const std::uint64_t OR = digest(Points(reinterpret_cast<const std::uint32_t*>(U"or"), 2));
        const bool whether = word.flags & NEGATES && fresh_ && to_.inner.back().key == OR;  // whether or not
        const std::uint32_t flags = word.flags & OF_WORDS & ~(whether ? NEGATES : 0);
        if (!fresh_ && word.flags & AUXILIARY) put(WHETHER, Kind::function, 0);
        if (!parsed_->han && word.flags & ENGLISH_FUNCTION) return put(to_.write(text), Kind::function, 0, flags, word.key);
        if (text.size() == 1 || word.flags & FORMULA)
            put(to_.write(text), Kind::letter, LETTER_WEIGHT, (flags & (NEGATES | LIMITS)) | LATIN, word.key);
        else
            put(to_.write(text), Kind::word, UNKNOWN_LATIN, flags | LATIN, word.key);
    }

    bool denies(Points text) const {
        return std::ranges::any_of(text, [&](std::uint32_t point) { return tables_.has(point, DENIES); });
    }

    // Whether a character negates the one before it only to ask: 会不会, 有没有, 是否
    static bool is_polar(Points run, std::size_t i) {
        static constexpr std::u32string_view VERBS = U"是能可会";
        if (i == 0) return false;
        if (run[i] == U'否') return VERBS.find(run[i - 1]) != VERBS.npos;
        return (run[i] == U'不' || run[i] == U'没') && i + 1 < run.size() && run[i + 1] == run[i - 1];
    }

    void put_han(Points run) {
        const bool may_deny = denies(run);
        bool polar = false;
        if (may_deny) {
            run_.clear();
            for (std::size_t i = 0; i < run.size(); i++) {
                const bool asked = is_polar(run, i);
                if (!asked) run_.push_back(run[i]);
                i += asked && run[i] != U'否';
                polar |= asked;
            }
            run = run_;
        }
        const auto words = segmenter_.segment(run);
        const std::uint32_t begin = to_.write(run).begin;
        for (std::size_t k = 0; k + 1 < words.size(); k++) {
            const Range range = range_of(words[k].start, words[k + 1].start);
            const Points text = range.of(run);
            const std::int32_t node = words[k].node >= 0 ? words[k].node : tables_.lexicon->find(text);
            const FormTables::Word word = tables_.word(text);
            std::uint32_t flags = word.flags & OF_WORDS;
            float weight = 0;
            if (node >= 0) {
                weight = tables_.weights[node];
                if (tables_.proper[node]) flags |= PROPER;
            }
            if (weight == 0) weight = text.size() > 1 ? UNKNOWN_WORD : UNKNOWN_CHARACTER;
            if (may_deny && !(word.flags & NOT_NEGATING) && denies(text)) flags |= NEGATES;
            const Kind kind = word.flags & FUNCTION ? Kind::function : Kind::word;
            if (kind == Kind::function) weight = 0;
            put({begin + range.begin, begin + range.end}, kind, weight, flags, word.key);
        }
        if (polar) put(WHETHER, Kind::function, 0);
    }

    // Puts a sign, an image or a blank, or notes what the character changes; returns its end.
    std::size_t put_sign(const Reader& text, std::size_t i) {
        const std::uint32_t c = text.at(i);
        const Points itself = text.text.subspan(i, 1);
        if (c == IMAGE_MARK && image_ < parsed_->images.size()) {
            const Points address = parsed_->text(parsed_->images[image_++]);
            put(to_.write(address), Kind::image, IMAGE_WEIGHT, denies(address) ? NEGATES : 0, digest(address));
        } else if (c == OPEN_MARK || c == CLOSE_MARK) {
            emphasised_ = c == OPEN_MARK;
        } else if (c == U'"') {
            if (quoted_ == count()) append(signs_, text.part(quote_, i).text);  // a sign is named: “；”
            quoted_ = quoted_ == NO_QUOTE ? count() : NO_QUOTE;
            quote_ = i + 1;
        } else if (c == U'、') {
            listed_ = true;
        } else if (const std::size_t behind = text.is_in(i, U"_([") ? blank_end(text, i) : 0) {
            put(GAP, Kind::blank, 0);
            return behind;
        } else if (tables_.has(c, FormTables::BRACKETS)) {
            if (c == U'(' && text.is_latin(i - 1)) arguments_ = text.closing(i, MOST_ARGUMENTS);
            if (keep_.empty()) mark_brackets(text, opened_, keep_);
            if (keep_[i]) put(itself, Kind::symbol, BRACKET_WEIGHT);
            else if (is_mark(text, i)) append(signs_, itself);
        } else if (text.is(i, Class::sign) && is_operator(text, i)) {
            put(itself, Kind::symbol, SYMBOL_WEIGHT);
        } else if (is_mark(text, i)) {
            append(signs_, itself);
        }
        return i + 1;
    }

    std::size_t count() const { return to_.inner.size() - to_.slots.back().inner_begin; }

    Range read(Range part) {
        const Reader text{tables_, parsed_->text(part)};
        const std::size_t begin = count();
        std::size_t clause = begin;
        clause_ = 0;
        layout_ = {};
        line_ = begin;
        fresh_ = emphasised_ = listed_ = false;
        arguments_ = 0;
        quoted_ = NO_QUOTE;
        clear(keep_, signs_);
        for (std::size_t i = 0, end; i < text.size(); i = end) {
            end = i + 1;
            const std::uint32_t c = text.at(i);
            if (i >= arguments_) arguments_ = 0;
            if (c == U'\n') end_line();
            if (count() == line_ && is_provision(text, i) && !layout_.provisions++) layout_.preamble = count() - begin;
            switch (text.kind(i)) {
                case Class::digit:
                    end = number_end(text, i);
                    if (clause_ && !fresh_ && is_numbering(text, i, end)) break;
                    number_.clear();
                    write_number(text.text.subspan(i, end - i), number_);
                    put(number_, Kind::number, NUMBER_WEIGHT);
                    break;
                case Class::circled: put(text.text.subspan(i, 1), Kind::number, CIRCLED_WEIGHT); break;
                case Class::letter:
                    end = latin_end(text, i);
                    put_latin(text.text.subspan(i, end - i));
                    break;
                case Class::han:
                    end = text.behind(i, Class::han);
                    put_han(text.text.subspan(i, end - i));
                    break;
                case Class::space: break;
                default: end = put_sign(text, i);
            }
            if (fresh_ && end == i + 1 && tables_.has(c, FormTables::PAUSES) && !is_within(text, i)) {
                if (c == U'?') {
                    Token& first = to_.inner[to_.inner.size() - (count() - clause)];
                    if (count() - clause == 2 && first.flags & LATIN) first.flags &= ~NEGATES;  // isn't it?
                    to_.inner.back().flags |= TASK;
                }
                clause = count();
                clause_++;
                fresh_ = false;
            }
        }
        if (count() > begin) to_.inner.back().signs += take_signs();
        end_line();
        return range_of(begin, count());
    }

    void end_line() {
        if (count() == line_) return;
        if (layout_.lines < std::size(layout_.first)) layout_.first[layout_.lines] = range_of(line_, count());
        layout_.lines++;
        line_ = count();
    }

    const FormTables& tables_;
    Forms& to_;
    Segmenter segmenter_;
    const ParsedText* parsed_ = nullptr;
    std::vector<std::size_t> opened_;
    std::vector<bool> keep_;
    Buffer number_, run_, signs_;
    std::size_t image_ = 0;
    std::uint32_t clause_ = 0;
    Layout layout_;
    std::size_t line_ = 0;  // the first token of the line
    bool fresh_ = false;  // the clause has a token
    bool emphasised_ = false;
    bool listed_ = false;        // behind 、
    std::size_t arguments_ = 0;  // the end of a function's arguments
    std::size_t quote_ = 0, quoted_ = NO_QUOTE;  // behind a quotation mark; tokens before it
};

}  // namespace

std::vector<Richness> Judge::richness(const ReadTexts& texts) const {
    std::vector<Richness> found;
    Forms forms;
    Tokenizer tokenizer(tables_, forms);
    for (std::size_t i = 0; i < texts.size(); i++) {
        tokenizer.add(texts[i]);
        const Form form = forms[0];
        const auto choices = static_cast<std::uint32_t>(form.choices.size());
        found.push_back({count_images(form), choices, form.answer.size() != 0, is_explained(form)});
        forms.clear();
    }
    return found;
}

void ReadTexts::make_forms(const FormTables& tables, std::vector<std::size_t> rows, std::size_t threads) {
    if (held_ > MOST_POINTS) {
        clear(parts_, slots_);
        held_ = 0;
    }
    slots_.resize(size());
    std::erase_if(rows, [&](std::size_t row) { return slots_[row].part != nullptr; });
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.empty()) return;
    std::size_t size = 0;
    for (const std::size_t row : rows) size += points(row);
    held_ += size;
    std::mutex adding;
    share(rows.size(), threads, [&](auto take) {
        Part part;
        part.forms.inner.reserve(size / threads / 2);  // no copies, and no page untouched
        part.forms.points.reserve(size / threads);
        Tokenizer tokenizer(tables, part.forms);
        ProfileBuilder builder(tables);
        std::vector<std::size_t> made;
        for (std::size_t i; (i = take()) < rows.size();) {
            tokenizer.add(parsed_[rows[i]]);
            part.profiles.push_back(builder.build(part.forms[made.size()]));
            made.push_back(rows[i]);
        }
        const std::scoped_lock lock(adding);
        parts_.push_back(std::move(part));
        for (std::size_t i = 0; i < made.size(); i++) slots_[made[i]] = {&parts_.back(), i};
    });
}

}  // namespace dedup::judgment
