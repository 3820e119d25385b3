// The choices of a question; its notes: points, sources, numbering.
#pragma once
#include "judgment/form_tables.hpp"

namespace dedup::judgment {

struct Choices {
    std::span<const Range> ranges;  // valid until the next search
    std::size_t stem;               // where the stem ends
};

class ChoiceFinder {
public:
    // The choices behind A. B. C., or short ones behind 1. 2. 3. 4.; unmarked: or short lines behind one that asks, or between |.
    Choices find(const Reader& text, bool unmarked = false) {
        find_labels(text);
        choose_run(text.size());
        if (run_.size() < 3 && std::ranges::any_of(run_, &Label::bare)) ranges_.clear();
        if (ranges_.empty()) {
            find_figures(text);
            choose_run(text.size());
            const bool is_long = std::ranges::any_of(ranges_, [](Range one) { return one.size() > 40; });
            if (run_.size() < 4 || is_long) ranges_.clear();
        }
        if (ranges_.empty() && unmarked) {
            find_lines(text);
            choose_run(text.size());
        }
        drop_repeated(text);
        return {ranges_, ranges_.empty() ? text.size() : run_[0].start};
    }

private:
    static constexpr std::size_t NAMES = 8, NONE = std::numeric_limits<std::size_t>::max();
    struct Label {
        std::size_t name, start, end;  // name: 0 is A
        bool bare = false;
        std::size_t next = NONE;  // the label that goes on the run
    };

    // Takes out labels that all choices repeat: A. A苯耗下降
    void drop_repeated(const Reader& text) {
        for (std::size_t k = 0; k < ranges_.size(); k++) {
            const std::size_t i = text.skip(ranges_[k].begin);
            if (i + 1 >= ranges_[k].end || text.at(i) != U'a' + k || !text.is(i + 1, Class::han)) return;
        }
        for (Range& choice : ranges_) choice.begin = std::uint32_t(text.skip(choice.begin) + 1);
    }

    // Chooses the longest run of labels A, B, C and so on; of equally long ones the last.
    void choose_run(std::size_t size) {
        struct Run {
            std::size_t label = NONE, length = 0;
        };
        std::array<Run, NAMES + 1> runs{};  // by the first name, of the labels from here on
        Run best{NONE, 1};
        for (std::size_t i = labels_.size(); i-- > 0;) {
            const std::size_t name = labels_[i].name;
            labels_[i].next = runs[name + 1].label;
            runs[name] = {i, runs[name + 1].length + 1};
            if (name == 0 && runs[0].length > best.length) best = runs[0];
        }
        clear(run_, ranges_);
        for (std::size_t i = best.label; i != NONE; i = labels_[i].next) {
            if (!ranges_.empty()) ranges_.back().end = static_cast<std::uint32_t>(labels_[i].start);
            run_.push_back(labels_[i]);
            ranges_.push_back(range_of(labels_[i].end, size));
        }
        labels_.clear();
    }

    void find_labels(const Reader& text) {
        for (std::size_t i = 0; (i = text.find_behind(i, FormTables::BEFORE_LABEL, FormTables::LABELS)) < text.size();)
            i = std::max(label_at(text, i), i + 1);
    }

    // A. or (A) or A), and A alone at the start of a line; not the first of A.B. or A、B、. Returns its end or 0.
    std::size_t label_at(const Reader& text, std::size_t i) {
        const bool is_first = i == 0 || text.at(i - 1) == U'\n';
        const std::size_t j = text.is_in(i, U"([") ? text.skip(i + 1) : i;
        const std::uint32_t name = text.at(j) - U'a';
        if (name >= NAMES || text.is_latin(j + 1)) return 0;
        if (const std::size_t end = text.after_label(j + 1, U".、:)]")) {
            const std::uint32_t behind = text.at(text.skip(end + 1));
            const bool is_next = behind == U'、' && text.at(end) == text.at(j) + 1;
            if (text.is_latin(end) && (behind == U'.' || is_next)) return 0;
            labels_.push_back({name, i, end});
            return end;
        }
        if (!is_first || j != i || !text.is(i + 1, Class::space) || text.skip(i + 1) >= text.size()) return 0;
        labels_.push_back({name, i, i + 1, true});
        return i + 1;
    }

    // 1. or 1、 or 1) at the start of a line.
    void find_figures(const Reader& text) {
        for (std::size_t i = 0; i < text.size(); i = text.find_point(i, U'\n')) {
            i = text.skip(i);
            if (text.at(i) - U'1' < NAMES && text.is_in(i + 1, U".、)")) labels_.push_back({text.at(i) - U'1', i, i + 2});
        }
    }

    // The last lines, behind one that asks, or the parts of a single line behind |. Each is short and begins with a word.
    void find_lines(const Reader& text) {
        const bool single = text.find_point(0, U'\n') == text.size();
        for (std::size_t i = text.size(), end = i; end > 0 && labels_.size() <= NAMES; end = std::max<std::size_t>(i, 1) - 1) {
            i = end;
            while (i > 0 && text.at(i - 1) != (single ? U'|' : U'\n')) i--;
            std::size_t last = end, begin = text.skip(i);
            while (last > i && text.is_in(last - 1, U" ,;。:")) last--;
            const bool asks = text.is_in(last - 1, U"?是_)") || (single && i == 0 && text.part(i, last).letters(4) == 4);
            if (asks && labels_.size() >= (single ? 2u : 3u)) {
                std::ranges::reverse(labels_);
                for (std::size_t k = 0; k < labels_.size(); k++) labels_[k].name = k;
                return;
            }
            if (text.is_in(begin, U"-*·●") || text.is(begin, Class::circled)) begin = text.skip(begin + 1);
            if (text.is_in(begin, U"甲乙丙丁戊") && text.is_in(begin + 1, U"、.")) begin = text.skip(begin + 2);
            const bool is_word = text.is(begin, Class::han) || (!text.is(begin, Class::digit) &&
                                                                text.part(begin, std::max(begin, last)).letters(4) == 4);
            if (last <= begin || last > begin + 20 || !is_word || text.is_in(begin + 1, U"、:")) break;
            labels_.push_back({0, i - (single && i > 0), begin});
        }
        labels_.clear();
    }

    std::vector<Label> labels_, run_;
    std::vector<Range> ranges_;
};

// A text without some of its ranges, which go to the notes: a view of `out`, with a separator for each, or the text itself.
inline Reader without(const Reader& text, std::span<const Range> ranges, char32_t separator, SearchedText& out, Buffer& notes) {
    if (ranges.empty()) return text;
    out.points.clear();
    std::uint32_t behind = 0;
    for (const Range range : ranges) {
        append(out.points, Range{behind, range.begin}.of(text.text));
        out.points.push_back(separator);
        append(notes, range.of(text.text));
        notes.push_back(U' ');
        behind = range.end;
    }
    append(out.points, text.text.subspan(behind));
    return out.reader(text.tables);
}

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

// Whether a bracket begins or ends a sentence; points within one are of the task: 甲队（5分）胜乙队
inline bool is_outside(const Reader& text, std::size_t begin, std::size_t end) {
    while (begin > 0 && (text.at(begin - 1) == U' ' || text.is(begin - 1, Class::digit))) begin--;  // 12 (5分)
    for (end++; end < text.size() && text.at(end) == U' ';) end++;
    if (begin == 0 || end == text.size() || text.is_in(begin - 1, U"\n。?!.:;)]、")) return true;
    return text.is_in(end, U"\n。?!.:;([") || (text.is_latin(end) && text.after_label(end + 1, U".、:)"));
}

// Takes out brackets with points, or with the source of the text.
inline Reader take_brackets(const Reader& text, SearchedText& out, Buffer& notes) {
    std::vector<Range> found;
    for (std::size_t i = text.find(0, FormTables::OPENS), next; i < text.size(); i = text.find(next, FormTables::OPENS)) {
        const std::size_t end = text.closing(i, 120);
        next = i + 1;
        if (!end) continue;
        const Reader inner = text.part(i + 1, end);
        const bool points = is_points(inner) && (inner.holds(POINTS) || is_outside(text, i, end));
        if (points || (!text.is_in(end + 1, U"({") && inner.holds(BRACKET))) found.push_back(range_of(i, next = end + 1));
    }
    return without(text, found, U' ', out, notes);
}

// Takes out short sentences in which a paper or a page writes of itself, from the space or comma before the phrase on:
// D. 18 Ω 扫码看解析
inline Reader take_sentences(const Reader& text, SearchedText& out, Buffer& notes) {
    std::vector<Range> found;
    for (std::size_t i = text.find_note(0), end; i < text.size(); i = text.find_note(end)) {
        end = std::min(text.find(i, FormTables::ENDS) + 1, text.size());
        std::size_t begin = i;
        while (begin > 0 && !(text.starts[begin - 1] & FormTables::ENDS)) begin--;
        const Reader sentence = text.part(begin, end);
        std::size_t start = sentence.size() <= 80 ? sentence.find_note(0) : sentence.size();
        if (start == sentence.size()) continue;
        while (start > 0 && !sentence.is_in(start - 1, U" ,")) start--;
        found.push_back(range_of(begin + start, end));
    }
    return without(text, found, U'\n', out, notes);
}

// The end of a post's tag at i: a link, @name, #topic#, a face in brackets, or a mark of a repost; i if there is none.
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
            return end && (end == tag_end(text, i + 1) || text.has_word(i + 1, U"via ") || text.has_word(i + 1, U"by ")) ? end + 1 : i;
        case U'h':
            if (!text.has_word(i, U"http")) return i;
            while (text.is_plain(end) || text.is_in(end, U":/?.=&%_-~+")) end++;
            return end;
        case U'转':
            end += text.is_in(end, U"发载");
            return text.is_plain(end) || text.is(end, Class::han) ? i : end + (text.at(end) == U':');
        default: return i;
    }
}

// Takes out the tags that a post begins or ends with: a repost has others.
inline Reader strip_tags(const Reader& text, Buffer& notes) {
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

// Whether a sentence goes on at i, so that a number before it is of that sentence and numbers nothing: （3）的平方根,
// (3)\\times 4. A longer word of the dictionary begins one: 是否.
inline bool goes_on(const Reader& text, std::size_t i, std::uint32_t kinds) {
    i = text.skip(i);
    if (text.at(i) == U'$') i = text.skip(i + 1);
    std::uint32_t sign = text.at(i);
    std::size_t j = i + 1;
    if (sign == U'\\') {
        while (text.is_latin(j)) j++;
        const FormTables::Word command = text.tables.word(text.part(i, j).text);
        if (command.flags & SIGN) sign = command.number;
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

// Whether a line begins as a provision of a statute.
inline bool is_provision(const Reader& text, std::size_t i) {
    if (text.at(i) == U'第') {
        const std::size_t first = text.skip(i + 1);
        std::size_t j = first;
        while (text.is(j, Class::digit) || text.is_in(j, U"零一二三四五六七八九十百千")) j++;
        return j > first && text.at(text.skip(j)) == U'条';
    }
    static constexpr std::u32string_view NAMES[] = {U"article ", U"section "};
    return std::ranges::any_of(NAMES, [&](auto name) {
        return text.has_word(i, name) && text.is(i + name.size(), Class::digit);
    });
}

// Openings: each returns its end, or 0.

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

// A number or heading at the start of a text: 12. or 第12题 or question 12 or 单选题 3、 or 1-2-3 or 1.2.3
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

// The end of a first line that is a date above an article, 2021-04-05 10:20, or 0.
inline std::size_t date_line(const Reader& text) {
    const std::size_t end = text.find_trait(0, FormTables::BRACKETS);
    const Reader line = text.part(0, end);
    const bool is_date = line.digits(0) == 4 && line.size() <= 24 && line.is_in(4, U"-/.年") && line.digits(5);
    for (std::size_t i = 0; i < line.size(); i++) {
        if (!line.is(i, Class::digit) && !line.is_in(i, U"-/.:年月日时分 ")) return 0;
    }
    return is_date && text.at(end) == U'\n' && text.from(end).letters(60) >= 60 ? end + 1 : 0;
}

// The text without the numbers, headings and names of papers at its start.
inline Reader behind_opening(const Reader& text) {
    std::size_t i = date_line(text);
    for (std::size_t j; (j = opening(text, i)) > i; i = j) {
        if (goes_on(text, j, text.at(text.skip(i)) == U'(' ? JOINT | HANGER : JOINT)) break;
    }
    return text.from(std::min(i, text.size()));
}

// The length of the number at i: 12 or ② or 二; or 0.
inline std::size_t number_at(const Reader& text, std::size_t i) {
    const std::size_t n = text.digits(i);
    return n ? n : text.is(i, Class::circled) ? 1 : text.phrase(i, NUMERAL).length;
}

// Constraints: or [要求] or 例2 or 第2题, or a line that is a short label. source: one is named, so that 第4章 is of it.
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
    const std::size_t stop = i + text.part(i, std::min(i + 20, text.size())).find_point(0, U'\n');
    const bool is_alone = named && (n || line) && text.skip(end) >= stop;
    const bool is_label = line && text.at(stop) == U'\n' && text.at(stop - 1) == U':';
    return !source && (is_alone || is_label || (!bracket && opening(text, i)));
}

// The start of a part of the task behind an explanation: a heading, or a number that continues the numbers of the question,
// since there is no 1 before it. The size of the text if there is none.
inline std::size_t find_part(const Reader& text, bool source) {
    bool line = false, counts = false;  // it begins a line; the explanation is numbered itself
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

}  // namespace dedup::judgment
