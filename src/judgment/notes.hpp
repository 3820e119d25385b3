// What is no part of a task: points, where it is from, numbering, the answer and what explains it.
#pragma once
#include "judgment/choices.hpp"

namespace dedup::judgment {

// 本题满分 12 分, 5 points
inline bool is_points(const Reader& inner) {
    std::size_t i = inner.skip(0);
    while (const std::size_t n = inner.phrase(i, POINTS).length) i = inner.skip(i + n);
    const std::size_t n = inner.digits(i);
    if (n < 1 || n > 3) return false;
    i += n;
    if (inner.at(i) == U'.' && inner.digits(i + 1) == 1) i += 2;
    i = inner.skip(i);
    const std::size_t unit = inner.phrase(i, UNIT).length;
    return unit && inner.skip(i + unit) == inner.size();
}

// Whether a bracket begins or ends a sentence; points inside one are of the task: 甲队（5分）胜乙队
inline bool is_outside(const Reader& text, std::size_t begin, std::size_t end) {
    while (begin > 0 && (text.at(begin - 1) == U' ' || text.is(begin - 1, Class::digit))) begin--;  // 12 (5分)
    for (end++; end < text.size() && text.at(end) == U' ';) end++;
    if (begin == 0 || end == text.size() || text.is_in(begin - 1, U"\n。?!.:;)]、")) return true;
    return text.is_in(end, U"\n。?!.:;([") || (text.is_latin(end) && text.after_label(end + 1, U".、:)"));
}

// Takes brackets that hold points, or say where the text is from, out of it. Returns the text itself where there are
// none, else `out`; so does `take_sentences`.
inline Searched take_brackets(const Searched& text, SearchedText& out, Buffer& notes) {
    out.points.clear();
    std::size_t behind = 0;  // what is taken out
    for (std::size_t i = text.find(0, FormTables::OPENS); i < text.size(); i = text.find(i, FormTables::OPENS)) {
        const std::size_t end = text.closing(i, 120);
        const Reader inner = text.part(i + 1, std::max(end, i + 1));
        const bool points = end && is_points(inner) && (inner.holds(POINTS) || is_outside(text, i, end));
        if (end && (points || (!text.is_in(end + 1, U"({") && inner.holds(BRACKET)))) {
            append(out.points, text.text.subspan(behind, i - behind));
            out.points.push_back(U' ');
            append(notes, text.text.subspan(i, end + 1 - i));
            notes.push_back(U' ');
            behind = end + 1;
        }
        i = std::max(i + 1, behind);
    }
    if (!behind) return text;
    append(out.points, text.text.subspan(behind));
    return out.reader(text.tables);
}

// Takes short sentences out in which a paper or a page speaks of itself; of what stands before, behind a space or a
// comma, it says nothing: D. 18 Ω 扫码看解析
inline Searched take_sentences(const Searched& text, SearchedText& out, Buffer& notes) {
    out.points.clear();
    std::size_t behind = 0;
    for (std::size_t i = text.find_note(0), end; i < text.size(); i = text.find_note(end)) {
        end = std::min(text.find(i, FormTables::ENDS) + 1, text.size());
        std::size_t begin = i;
        while (begin > 0 && !(text.starts[begin - 1] & FormTables::ENDS)) begin--;
        const Searched sentence = text.part(begin, end);
        std::size_t start = sentence.size() <= 80 ? sentence.find_note(0) : sentence.size();
        if (start == sentence.size()) continue;
        while (start > 0 && !sentence.is_in(start - 1, U" ,")) start--;
        append(out.points, text.text.subspan(behind, begin + start - behind));
        out.points.push_back(U'\n');
        append(notes, sentence.text.subspan(start));
        notes.push_back(U' ');
        behind = end;
    }
    if (!behind) return text;
    append(out.points, text.text.subspan(behind));
    return out.reader(text.tables);
}

// Where a tag of a post ends that begins at i: a link, @name, #topic#, a face in brackets, or that it was passed on; i if
// there is no tag.
inline std::size_t tag_end(const Reader& text, std::size_t i) {
    const auto is_name = [&](std::size_t k) { return text.is_plain(k) || text.is(k, Class::han) || text.is_in(k, U"_-"); };
    if (!text.is_in(i, U"@#[(h转")) return i;  // as nearly always
    if (text.is_plain(i - 1) || (text.at(i) != U'[' && text.is(i - 1, Class::han))) return i;
    std::size_t end = i + 1;
    switch (text.at(i)) {
        case U'@':
            while (end < i + 30 && is_name(end)) end++;
            return end == i + 1 ? i : end + (text.at(end) == U':');
        case U'#':
            while (end < i + 30 && end < text.size() && !text.is_in(end, U"#\n")) end++;
            return text.at(end) == U'#' && end > i + 1 && text.at(i + 1) != U' ' ? end + 1 : i;
        case U'[':
            while (text.is(end, Class::han)) end++;
            return text.at(end) == U']' && end > i + 1 && end < i + 6 ? end + 1 : i;
        case U'(':
            end = text.closing(i, 20);
            return end && (end == tag_end(text, i + 1) || text.stands(i + 1, U"via ") || text.stands(i + 1, U"by ")) ? end + 1 : i;
        case U'h':
            if (!text.stands(i, U"http")) return i;
            while (text.is_plain(end) || text.is_in(end, U":/?.=&%_-~+")) end++;
            return end;
        case U'转':
            end += text.is_in(end, U"发载");
            return text.is_plain(end) || text.is(end, Class::han) ? i : end + (text.at(end) == U':');
        default: return i;
    }
}

// Takes the tags out that a post begins or ends with: who passes it on puts others there.
inline Searched strip_tags(const Searched& text, Buffer& notes) {
    std::size_t begin = 0, end = text.size();
    for (std::size_t next; (next = tag_end(text, text.skip(begin))) > text.skip(begin); begin = next) {}
    for (std::size_t stop = end;; end = stop) {
        while (stop > begin && (text.is(stop - 1, Class::space) || text.is_in(stop - 1, U"。.!~"))) stop--;
        std::size_t i = stop;
        while (i > begin && i + 60 > stop && tag_end(text, i - 1) != stop) i--;
        if (i == begin || i + 60 <= stop) break;
        stop = i - 1;
    }
    if ((!begin && end == text.size()) || text.part(begin, end).letters(20) < 20) return text;
    append(notes, text.text.first(begin));
    append(notes, text.text.subspan(end));
    return text.part(begin, end);
}

// Whether a sentence goes on there, so that a number before it is of that sentence and numbers nothing: （3）的平方根,
// (3)\\times 4. A longer word of the dictionary begins one: 是否.
inline bool goes_on(const Reader& text, std::size_t i, std::uint16_t kinds) {
    i = text.skip(i);
    if (text.at(i) == U'$') i = text.skip(i + 1);
    std::uint32_t sign = text.at(i);
    std::size_t j = i + 1;
    if (sign == U'\\') {
        while (text.is_latin(j)) j++;
        const auto [flags, command] = text.tables.word(text.part(i, j).text);
        if (flags & SIGN) sign = command;
    }
    constexpr std::u32string_view OPERATORS = U"+×÷·=<>≤≥≠≈≡±^/%°";
    if (OPERATORS.find(sign) != OPERATORS.npos && text.at(i + 1) != sign) return true;
    const std::size_t n = text.phrase(i, kinds).length;
    if (!n || !text.is(i, Class::han)) return n && !text.is_plain(i + n);
    for (j = i + n + 1; j <= std::min(i + n + 3, text.size()); j++) {
        if (text.tables.lexicon->holds(text.part(i, j).text)) return false;
    }
    return true;
}

// Whether a line begins as a provision of a statute does.
inline bool is_provision(const Reader& text, std::size_t i) {
    if (text.at(i) == U'第') {
        const std::size_t first = text.skip(i + 1);
        std::size_t j = first;
        while (text.is(j, Class::digit) || text.is_in(j, U"零一二三四五六七八九十百千")) j++;
        return j > first && text.at(text.skip(j)) == U'条';
    }
    static constexpr std::u32string_view NAMES[] = {U"article ", U"section "};
    return std::ranges::any_of(NAMES, [&](auto name) {
        return text.stands(i, name) && text.is(i + name.size(), Class::digit);
    });
}

// Openings: each returns the place behind, or 0.

// (12) or (三) or [多选] or (2019年北京)
inline std::size_t bracketed_opening(const Reader& text, std::size_t i) {
    const std::size_t close = text.closing(i, 30), first = text.skip(i + 1), n = text.digits(first);
    if (!close) return 0;
    if (text.at(i) == U'[') return text.at(close) == U']' && !text.is_in(close + 1, U"{(") ? close + 1 : 0;
    const std::uint32_t century = 10 * (text.at(first) - U'0') + (text.at(first + 1) - U'0');
    if (n == 4 && (century == 19 || century == 20)) return close + 1;
    const std::size_t named = text.phrase(first, POINTS).length;  // (共10题, 20分)
    if (named && text.digits(text.skip(first + named)) && text.is_in(close - 1, U"题分")) return close + 1;
    std::size_t j = first + n;
    while (const std::size_t one = n ? 0 : text.phrase(j, NUMERAL).length) j += one;
    if (j == first || n > 3 || text.skip(j) != close) return 0;
    std::size_t end = text.skip(close + 1);
    end += text.is_in(end, U".、");
    const std::size_t behind = text.skip(end);  // (1)+(2) is a formula
    const bool is_text = text.is(behind, Class::han) || text.is_latin(behind) || text.is_in(behind, U"$\\");
    return !n || is_text ? end : 0;
}

// 2019年真题第48题
inline std::size_t paper_opening(const Reader& text, std::size_t i) {
    const std::size_t stop = std::min(i + 30, text.size());
    const Points begin = text.text.subspan(i, stop - i);
    if (std::ranges::find(begin, U'第') == begin.end()) return 0;
    bool found = false;
    for (; i < stop; i++) {
        if (!text.is(i, Class::han) && !text.is(i, Class::digit) && !text.is_in(i, U"· ")) return 0;
        const std::size_t first = text.skip(i + 1), n = text.digits(first), end = text.skip(first + n);
        const bool is_number = found && text.at(i) == U'第' && n && text.at(end) == U'题';
        if (is_number) return end + 1 + text.is_in(end + 1, U".、:");
        found |= text.phrase(i, PAPER).length > 0;
    }
    return 0;
}

// (单选) or 《单选题》, or the number of 一、单选题
inline std::size_t type_opening(const Reader& text, std::size_t i) {
    const std::size_t n = text.phrase(i, NUMERAL).length;
    if (n && text.is_in(i + n, U"、.") && text.phrase(i + n + 1, HEADING).length) return i + n + 1;
    const std::size_t first = text.skip(i + 1), named = text.phrase(first, HEADING).length;
    const std::size_t end = text.skip(first + named);
    return named && text.is_in(i, U"(\"《") && text.is_in(end, U")\"》") ? end + 1 : 0;
}

// One number or heading that a text begins with: 12. or 第12题 or question 12 or 单选题 3、 or 1-2-3 or 1.2.3
inline std::size_t opening(const Reader& text, std::size_t i) {
    i = text.skip(i);
    if (const std::size_t end = type_opening(text, i)) return end;
    if (text.is_in(i, U"([")) return bracketed_opening(text, i);
    if (const std::size_t end = paper_opening(text, i)) return end;
    if (text.at(i) == U'第') {  // 第十二条, and a space
        std::size_t j = i + 1;
        while (text.is(j, Class::digit) || text.is_in(j, U"零〇一二三四五六七八九十百")) j++;
        if (j > i + 1 && text.is_in(j, U"条章节课") && text.is(j + 1, Class::space)) return j + 1;
        i = text.skip(i + 1);
    }
    const auto found = text.phrase(i, NUMBERED | HEADING);
    const std::size_t named = i + found.length;
    if (found.length) {
        i = text.skip(named);
        if (text.at(i) == U'.') i = text.skip(i + 1);
    }
    const std::size_t n = text.digits(i), end = text.skip(i + n);
    std::size_t j = i + n, points = 0;  // one point alone makes a decimal
    while (n < 4 && text.is_in(j, U"-.") && text.digits(j + 1) - 1 < 3) {
        points += text.at(j) == U'.';
        j += 1 + text.digits(j + 1);
    }
    if (j > i + n && points != 1) return text.is(j, Class::space) ? j : 0;
    if (n > 4 || (n == 0 && !(found.kinds & HEADING))) return 0;
    const bool apart = text.is(named, Class::space) || text.at(named) == U'(';
    if (n == 0 && apart && text.is(named - 1, Class::han)) return named;
    if (text.at(end) == U'题' || (text.is_in(end, U".、:)") && !text.is(end + 1, Class::digit))) return end + 1;
    return found.kinds & NUMBERED && text.at(named - 1) != U't' ? i + n : 0;  // T1 alone is a name
}

// Behind a first line that is a date, 2021-04-05 10:20, above an article; 0 if there is none.
inline std::size_t date_line(const Reader& text) {
    const std::size_t end = text.find(0, FormTables::BRACKETS);
    const Reader line = text.part(0, end);
    const bool is_date = line.digits(0) == 4 && line.size() <= 24 && line.is_in(4, U"-/.年") && line.digits(5);
    for (std::size_t i = 0; i < line.size(); i++) {
        if (!line.is(i, Class::digit) && !line.is_in(i, U"-/.:年月日时分 ")) return 0;
    }
    return is_date && text.at(end) == U'\n' && text.part(end, text.size()).letters(60) >= 60 ? end + 1 : 0;
}

// What is behind the numbers, headings and names of papers that a text begins with.
inline Searched behind_opening(const Searched& text) {
    std::size_t i = date_line(text);
    for (std::size_t j; (j = opening(text, i)) > i; i = j) {
        if (goes_on(text, j, text.at(text.skip(i)) == U'(' ? JOINT | HANGER : JOINT)) break;
    }
    return text.part(std::min(i, text.size()), text.size());
}

// How long the number is that stands there: 12 or ② or 二.
inline std::size_t number_at(const Reader& text, std::size_t i) {
    const std::size_t n = text.digits(i);
    return n ? n : text.is(i, Class::circled) ? 1 : text.phrase(i, NUMERAL).length;
}

// Constraints: or [要求] or 例2 or 第2题, or a line that is a short label. source: the text says where something is
// from, so that 第4章 is of it.
inline bool is_heading(const Reader& text, std::size_t i, bool line, bool source) {
    if (line && text.at(i) == U'#') return true;
    while (line && text.is_in(i, U"*>-")) i = text.skip(i + 1);
    const bool bracket = text.is_in(i, U"([");
    const std::size_t first = text.skip(i + bracket), named = text.phrase(first, PART).length;
    if (!text.is(first, Class::han) && !text.is_latin(first)) return false;
    if (text.at(i) == U'[') return text.at(std::max(text.closing(i, 30), i)) == U']';
    const std::size_t behind = text.skip(first + named), n = number_at(text, behind);
    const std::size_t end = n ? behind + n : first + named;
    if (named && text.after_label(end, U":]")) return true;
    const Points near = text.part(i, std::min(i + 20, text.size())).text;
    const std::size_t stop = i + (std::ranges::find(near, U'\n') - near.begin());
    const bool is_alone = named && (n || line) && text.skip(end) >= stop;
    const bool is_label = line && text.at(stop) == U'\n' && text.at(stop - 1) == U':';
    return !source && (is_alone || is_label || (!bracket && opening(text, i)));
}

// Where a part of the task begins behind what explains it: a heading, or a number that goes on with those of the
// question, since no 1 stands before it. The size of the text if there is none.
inline std::size_t find_part(const Searched& text, bool source) {
    bool line = false, counts = false;  // nothing stands before in the line; what explains is numbered itself
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text.is(i, Class::space)) {
            line |= text.at(i) == U'\n';
            continue;
        }
        if (i == 0 || text.starts[i - 1] & FormTables::BEFORE_KEY) {
            const bool bracket = text.at(i) == U'(', circled = text.is(i, Class::circled);  // (2) or ②, in a line 2.
            const std::size_t first = text.skip(i + bracket), n = number_at(text, first), end = text.skip(first + n);
            const bool dotted = (line || i == 0) && text.is_in(end, U".、:)") && !text.is(end + 1, Class::digit);
            const bool numbered = n && n <= 2 && (bracket ? text.at(end) == U')' : circled || dotted);
            counts |= numbered && (i == 0 || (n == 1 && text.is_in(first, U"1①一")));
            if (i > 0 && ((numbered && !counts) || is_heading(text, i, line, source))) return i;
        }
        line = false;
    }
    return text.size();
}

class NoteSplitter {
public:
    SearchedText answer, explanation;

    // Splits a text into body, which is returned, answer, explanation and, behind those that are there, notes. Each of
    // them ends where a part of the task begins. What follows a mark is still the task where choices follow, or where
    // most of the text does.
    Searched split(const Searched& text, ChoiceFinder& finder, Buffer& notes) {
        clear(answer.points, explanation.points);
        find_marks(text);
        if (marks_.empty()) return text;
        Buffer& body = body_.points;
        body.assign(text.text.begin(), text.text.begin() + marks_[0].start);
        const std::size_t noted = notes.size();
        std::size_t count = text.part(0, marks_[0].start).letters(), out = 0;  // letters; those of no task
        bool listed = false;
        for (std::size_t k = 0; k < marks_.size(); k++) {
            const auto [start, begin, kinds] = marks_[k];
            const std::size_t end = k + 1 < marks_.size() ? marks_[k + 1].start : text.size();
            const bool is_answer = kinds & ANSWER, is_line = !is_answer && kinds & LINE;
            std::size_t task = begin + find_part(text.part(begin, end), is_line);  // where it goes on
            const Searched piece = text.part(begin, task);
            std::size_t stop = is_line ? piece.find(0, FormTables::ENDS)
                                       : std::ranges::find(piece.text, U'\n') - piece.text.begin();
            const Searched behind = piece.part(stop, piece.size());  // 难度：易 下列哪一项...? A. is no note to its end
            const bool asks = is_line && !count && (piece.at(stop) == U'?' || (!finder.find(behind).empty() &&
                                                                               !behind.part(0, finder.stem).letters(1)));
            if (asks) stop = std::find(piece.text.begin() + piece.skip(0), piece.text.end(), U' ') - piece.text.begin();
            const Reader line = piece.part(0, stop), rest = piece.part(std::min(stop + 1, piece.size()), piece.size());
            const std::size_t letters = piece.letters();
            bool more = !is_line && !finder.find(piece).empty();
            if (!is_line && !more && answer.points.empty() && out + letters > count) {
                listed = listed || !finder.find(body_.reader(text.tables)).empty();
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
        const Searched asked = body_.reader(text.tables);
        const bool single = marks_.size() == 1 && !(marks_[0].kinds & LINE);
        if (behind_opening(asked).letters(4) >= (single ? 4u : 1u)) return asked;
        clear(answer.points, explanation.points);
        notes.resize(noted);
        return text;
    }

private:
    static void add(const Reader& text, Buffer& to) {
        append(to, text.text);
        to.push_back(U'\n');
    }

    struct Mark {
        std::size_t start;
        std::size_t end;
        std::uint16_t kinds;
    };

    // 答案: and the like, at the start of a line, behind a space, a sentence or a bracket.
    void find_marks(const Searched& text) {
        marks_.clear();
        for (std::size_t i = 0;;) {
            i = text.find_behind(i, FormTables::BEFORE_KEY, FormTables::KEYS);
            if (i == text.size()) return;
            std::size_t end = 0;
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

}  // namespace dedup::judgment
