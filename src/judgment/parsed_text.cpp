// Texts read into parts, without numbering, in one notation.
#include "judgment/formulas.hpp"
#include "judgment/judge.hpp"
#include "judgment/notes.hpp"

namespace dedup::judgment {
namespace {

class NoteSplitter {
public:
    SearchedText answer, explanation;

    // Splits a text into body, which is returned, answer, explanation and notes, which are appended. Each ends before a part
    // of the task. The text behind a mark is still the task if choices follow, or most of the text.
    Reader split(const Reader& text, ChoiceFinder& finder, Buffer& notes) {
        clear(answer.points, explanation.points);
        find_marks(text);
        if (marks_.empty()) return text;
        Buffer& body = body_.points;
        body.assign(text.text.begin(), text.text.begin() + marks_[0].start);
        const std::size_t noted = notes.size();
        std::size_t count = text.part(0, marks_[0].start).letters(), out = 0;  // letters; of no task
        bool listed = false;
        for (std::size_t k = 0; k < marks_.size(); k++) {
            const auto [start, begin, kinds] = marks_[k];
            const std::size_t end = k + 1 < marks_.size() ? marks_[k + 1].start : text.size();
            const bool is_answer = kinds & ANSWER, is_line = !is_answer && kinds & LINE;
            std::size_t task = begin + find_part(text.part(begin, end), is_line);  // it goes on there
            const Reader piece = text.part(begin, task);
            std::size_t stop = is_line ? piece.find(0, FormTables::ENDS) : piece.find_point(0, U'\n');
            const bool asks = is_line && !count && (piece.at(stop) == U'?' || begins_choices(piece.from(stop), finder));
            if (asks) stop = piece.find_point(piece.skip(0), U' ');
            const Reader line = piece.part(0, stop), rest = piece.from(std::min(stop + 1, piece.size()));
            const std::size_t letters = piece.letters();
            bool more = !is_line && !finder.find(piece).ranges.empty();
            if (!is_line && !more && answer.points.empty() && out + letters > count) {
                listed = listed || !finder.find(body_.reader(text.tables)).ranges.empty();
                more = !listed;
            }
            if (more) {
                task = start;
            } else if (is_line && (line.letters() > 60 || (asks && stop == piece.size()))) {
                task = begin;
            } else if (is_line) {
                add(line, notes);
                task -= rest.size();
            } else {
                add(line, is_answer ? answer.points : explanation.points);
                add(rest, explanation.points);
                out += letters;
            }
            if (!more) body.push_back(U'\n');
            append(body, text.text.subspan(task, end - task));
            count += text.part(task, end).letters();
        }
        const Reader asked = body_.reader(text.tables);
        const bool single = marks_.size() == 1 && !(marks_[0].kinds & LINE);
        if (behind_opening(asked).letters(4) >= (single ? 4u : 1u)) return asked;
        clear(answer.points, explanation.points);
        notes.resize(noted);
        return text;
    }

private:
    // 难度：易 下列哪一项...? A. is no note to its end.
    static bool begins_choices(const Reader& text, ChoiceFinder& finder) {
        const Choices found = finder.find(text);
        return !found.ranges.empty() && !text.part(0, found.stem).letters(1);
    }

    static void add(const Reader& text, Buffer& to) {
        append(to, text.text);
        to.push_back(U'\n');
    }

    struct Mark {
        std::size_t start, end;
        std::uint32_t kinds;
    };

    // 答案: and the like, at the start of a line, behind a space, a sentence or a bracket.
    void find_marks(const Reader& text) {
        marks_.clear();
        for (std::size_t i = 0, end; (i = text.find_behind(i, FormTables::BEFORE_KEY, FormTables::KEYS)) < text.size();) {
            end = 0;
            if (text.at(i - 1) != U'"' || (i > 1 && text.is_in(i - 2, U"。?!"))) {
                const std::size_t j = text.skip(text.is_in(i, U"([") ? i + 1 : i);
                const auto found = text.phrase(j, KEY);
                if (found.length) end = text.after_label(j + found.length, U":]");
                if (end) marks_.push_back({i, end, found.kinds});
            }
            i = end ? end : i + 1;
        }
    }

    std::vector<Mark> marks_;
    SearchedText body_;
};

class TextParser {
public:
    TextParser(const FormTables& tables, ParsedTexts& to) : tables_(tables), to_(to) {}

    void read(Points text) {
        fold(keep_capitals(text));
        Buffer& notes = notes_.points;
        notes.clear();
        const Reader whole = take_brackets(strip_tags(text_.reader(tables_), notes), rest_, notes);
        const std::size_t taken = notes.size();
        const Reader rest = take_sentences(whole, body_, notes);
        const bool enough = rest.letters(4) >= 4;
        if (!enough) notes.resize(taken);
        const Reader task = splitter_.split(enough ? rest : whole, finder_, notes), behind = behind_opening(task);
        const Reader body = behind.letters(4) >= 4 ? behind : task;
        const Choices choices = finder_.find(body, true);

        ParsedTexts::Slot& slot = to_.slots.back();
        slot.han = tables_.has_any(body.text, Class::han);
        slot.layout.provisions = is_provision(task, 0);
        slot.stem = write(body.part(0, choices.stem));
        for (const Range choice : choices.ranges) to_.choices.push_back(write(body.part(choice.begin, choice.end)));
        slot.answer = write(splitter_.answer.reader(tables_));
        slot.explanation = write(splitter_.explanation.reader(tables_));
        slot.notes = write(notes_.reader(tables_));
        to_.end_one();
    }

private:
    // The folded character beside others, 0 if it joins the last one: é; 著 is 着 unless it forms a word. A character in
    // quotation marks stays as it is: “髮” is not “發”.
    std::uint32_t join(Points text, std::size_t i, std::span<std::uint32_t> before) const {
        const std::uint32_t point = text[i], folded = tables_.folded[point][0], named = i ? text[i - 1] : U' ';
        const std::uint32_t last = before.empty() ? U' ' : before.back(), next = i + 1 < text.size() ? text[i + 1] : U' ';
        if (point == U'著') {
            const auto is_word = [&](std::array<std::uint32_t, 2> both) { return tables_.lexicon->holds(both); };
            const bool of_word = is_word({last, point}) || is_word({point, next < PLANE ? tables_.single[next] : next});
            return of_word ? point : folded;
        }
        if (folded == U'"' || folded == U'\'') {
            const bool written = tables_.class_of(named) == Class::han || (U'A' <= named && named <= U'Z');
            if (written && before.size() > 1 && before[before.size() - 2] == folded) before.back() = named;
            return folded;
        }
        const std::uint32_t whole = tables_.word(std::array{last, folded}).number;
        if (whole) before.back() = whole;
        return whole ? 0 : folded;
    }

    // Folds characters; superscripts and subscripts become ^{...} and _{...}.
    void fold(Points text) {
        Buffer& to = text_.points;
        to.resize(text.size());  // always large enough for the characters left
        std::size_t size = 0;
        std::uint32_t script = 0, joined = 0;
        const auto put = [&](std::uint32_t point) {
            to.push_back(0);
            to[size++] = point;
        };
        const std::uint32_t* const single = tables_.single.data();
        for (std::size_t i = 0; i < text.size(); i++) {
            std::uint32_t* next = &to[size];
            for (; !script && i < text.size() && text[i] < PLANE && single[text[i]]; i++) *next++ = single[text[i]];
            size = next - to.data();
            if (i == text.size()) break;
            const std::uint32_t& point = text[i];
            const std::size_t index = tables_.folded_index(point);
            std::uint32_t now = index < FormTables::FOLDED ? tables_.scripts[index] : 0;
            Points folded = index < FormTables::FOLDED ? tables_.folded[index] : Points(&point, 1);
            if (now == FormTables::JOINED) {
                joined = join(text, i, std::span(to).first(size));
                folded = Points(&joined, joined != 0);
                now = script;
            }
            if (now != script) {
                if (script) put(U'}');
                if (now) {
                    put(now);
                    put(U'{');
                }
                script = now;
            }
            for (const std::uint32_t one : folded) put(one);
        }
        if (script) put(U'}');
        to.resize(size);
    }

    // The text with characters that fold to capitals in place of capitals with a meaning of their own: alleles (Dd, XBXb),
    // symbols that a text has in both cases (x=1; X=2), 5mW, 5MV and 5Mb, \D and ls -A, and the word Polish.
    Points keep_capitals(Points text) {
        constexpr std::uint32_t CAPITALS = 0xFDD6 - U'A';
        const Reader all{tables_, text};
        const auto is_capital = [](std::uint32_t c) { return c - U'A' < 26; };
        const auto is_latin = [](std::uint32_t c) { return (c | 32) - U'a' < 26; };
        const auto is_other = [](std::uint32_t c) { return (c | 32) - U'a' >= 26; };
        const auto is_letter = [&](std::size_t i) { return is_latin(all.at(i)); };
        const auto bit = [](std::uint32_t c) { return std::uint32_t{1} << (c & 31); };
        const auto behind_space = [&](std::size_t i) { return i - 1 - (all.at(i - 1) == U' '); };
        const auto is_symbol = [&](std::size_t i, std::size_t end) {  // no label: A. and (A) and 答案：A
            const bool column = all.is_in(i - 1, U"|{") && all.is_in(i, U"clr");  // of a table
            const bool label = (all.is_in(end, U".．、:：)）") && !is_letter(i - 2)) || all.is_in(behind_space(i), U":：");
            if (end == i + 1) return !column && (text[i] > U'H' || !label);
            if (end == i + 2) return bit(text[i]) == bit(text[i + 1]);
            return end <= i + 6 && std::any_of(text.begin() + i + 1, text.begin() + end, [](auto c) { return c < U'a'; });
        };
        const auto find = [&](std::size_t i, auto wanted) -> std::size_t {
            return std::find_if(text.begin() + i, text.end(), wanted) - text.begin();
        };
        std::uint32_t small = 0, large = 0, longer_small = 0, longer_large = 0;  // letters by themselves; in longer symbols
        const auto counts = [&](std::size_t i, std::size_t end) {  // as a symbol
            if (!is_symbol(i, end)) return false;
            std::uint32_t &upper = end > i + 1 ? longer_large : large, &lower = end > i + 1 ? longer_small : small;
            for (std::size_t k = i; k < end; k++) (text[k] < U'a' ? upper : lower) |= bit(text[k]);
            return true;
        };
        runs_.clear();
        for (std::size_t i = find(0, is_capital), end; i < text.size(); i = find(end, is_capital)) {
            end = find(i, is_other);
            while (is_letter(i - 1)) i--;
            const bool kept = end > i + 6 ? std::min(text[i], text[i + 1]) < U'a' : counts(i, end) || end > i + 1;
            if (kept) runs_.push_back(range_of(i, end));
        }
        if (runs_.empty()) return text;
        const std::uint32_t a_i = bit(U'a') | bit(U'i'), words = large & a_i && !tables_.has_any(text, Class::han) ? a_i : 0;
        for (std::size_t i = 0, end; ((large & ~words) | longer_large) && (i = find(i, is_latin)) < text.size(); i = end) {
            end = find(i, is_other);
            if (end <= i + 2) counts(i, end);  // longer ones are symbols by their capitals
        }
        const std::uint32_t both = (longer_small & longer_large) | (small & large & ~words);
        cased_.clear();
        for (const auto [i, end] : runs_) {
            const bool symbol = both && is_symbol(i, end), single = end == i + 1;
            const bool behind = all.is(behind_space(i), Class::digit);  // a number
            const bool option = all.at(i - 1) == U'-' && all.at(i - 2) == U' ' && is_letter(i - 3) && is_letter(i - 4);
            const bool named = all.is_in(end, U"这一") && (all.has_word(end, U"这个单词") || all.has_word(end, U"这个词") || all.has_word(end, U"一词"));
            const bool word = named || (all.is_in(i - 1, U"词 ") && (all.has_word(i - 2, U"单词") || all.has_word(i - 5, U"word ")));
            const bool bits = end == i + 2 && all.is_in(i, U"KMGT") && text[i + 1] == U'b';
            const bool first = word || (single && (all.at(i - 1) == U'\\' || option)) ||
                               (behind && (bits || (text[i] == U'M' && all.is_in(i + 1, U"VJN\u03a9\u2126"))));
            const bool second = behind && text[i] == U'm' && all.is_in(i + 1, U"WHP");
            for (std::size_t k = i; k < end; k++) {
                const bool kept = (symbol && both & bit(text[k])) || (k == i && first) || (k == i + 1 && second);
                if (!kept || text[k] >= U'a') continue;
                if (cased_.empty()) cased_.assign(text.begin(), text.end());
                cased_[k] += CAPITALS;
            }
        }
        return cased_.empty() ? text : Points(cased_);
    }

    Range write(const Reader& part) {
        if (part.text.empty()) return to_.write({});
        const Range range = to_.write(flattener_.flatten(part));
        for (const Points address : flattener_.images) {
            image_.clear();
            append_image_key({tables_, address}, image_);
            to_.inner.push_back(to_.write(image_));
        }
        return range;
    }

    const FormTables& tables_;
    ParsedTexts& to_;
    ChoiceFinder finder_;
    NoteSplitter splitter_;
    Flattener flattener_;
    SearchedText text_, rest_, body_, notes_;
    Buffer image_, cased_;
    std::vector<Range> runs_;
};

// Letters, digits and signs, numbers in digits; a space only between two words that are not Han.
void write_part(const ParsedText& parsed, Range part, const FormTables& tables, std::size_t& image, Buffer& out) {
    const Reader text{tables, parsed.text(part)};
    Buffer content;
    content.reserve(part.size());
    bool apart = false;
    for (std::size_t i = 0, end; i < text.size(); i = end) {
        // nearly all: characters that are written as they are, letters only if no space may belong before them
        const std::uint32_t written = FormTables::PLAIN_HAN | (apart ? 0u : FormTables::PLAIN_LETTER);
        for (end = i; end < text.size() && tables.has(text.text[end], written);) end++;
        if (end > i) {
            append(content, text.text.subspan(i, end - i));
            apart = false;
            continue;
        }
        end = i + 1;
        const Class kind = text.kind(i);
        const bool plain = kind == Class::letter || kind == Class::digit;
        const std::size_t light = tables.has(text.at(i), LIGHT) ? text.phrase(i, LIGHT).length : 0;
        if (light) {
            end = i + light;
        } else if (plain || kind == Class::han || kind == Class::circled) {
            if (plain && apart && !content.empty() && tables.is_plain(content.back())) content.push_back(U' ');
            if (kind == Class::digit) {
                end = number_end(text, i);
                write_number(text.text.subspan(i, end - i), content);
            } else {
                content.push_back(text.at(i));
            }
            apart = false;
            continue;
        } else if (text.at(i) == IMAGE_MARK && image < parsed.images.size()) {
            append(content, parsed.text(parsed.images[image++]));
        } else if (kind == Class::sign && is_operator(text, i)) {
            content.push_back(text.at(i));
        }
        apart = true;
    }
    write_plainly(content, tables, out);
}

}  // namespace

void Judge::write_canonical(const ParsedText& parsed, Buffer& out) const {
    out.clear();
    std::size_t image = 0;
    const auto write = [&](Range part, Buffer& to) { write_part(parsed, part, tables_, image, to); };
    write(parsed.stem, out);
    std::vector<Buffer> choices(parsed.choices.size());
    for (std::size_t k = 0; k < choices.size(); k++) write(parsed.choices[k], choices[k]);
    std::ranges::sort(choices);
    for (const Buffer& choice : choices) {
        out.push_back(U'\n');
        append(out, choice);
    }
}

ReadTexts::ReadTexts(const Strings& texts, const FormTables& tables) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < texts.size(); i++) size += texts[i].size();
    utf8_.data.reserve(size);
    parsed_.points.reserve(size);
    TextParser parser(tables, parsed_);
    TextReader reader(texts);
    for (std::size_t i = 0; i < texts.size(); i++) {
        parser.read(reader[i]);
        utf8_.add(texts[i]);
    }
}

}  // namespace dedup::judgment
