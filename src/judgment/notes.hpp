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

// Takes brackets that hold points, or say where the text is from, out of it. Returns the text itself where there are
// none, else `out`; so does `take_sentences`.
inline Searched take_brackets(const Searched& text, SearchedText& out, Buffer& notes) {
    out.points.clear();
    std::size_t behind = 0;  // what is taken out
    for (std::size_t i = text.find(0, FormTables::OPENS); i < text.size(); i = text.find(i, FormTables::OPENS)) {
        const std::size_t end = text.closing(i, 120);
        const Reader inner = text.part(i + 1, std::max(end, i + 1));
        if (end && (is_points(inner) || (!text.is_in(end + 1, U"({") && inner.holds(BRACKET)))) {
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

class NoteSplitter {
public:
    SearchedText answer;
    bool explained = false;

    // Splits a text into body, which is returned, answer and, behind those that are there, notes. What follows a mark
    // is still the task where choices follow, or where most of the text does.
    Searched split(const Searched& text, ChoiceFinder& finder, Buffer& notes) {
        answer.points.clear();
        explained = false;
        find_marks(text);
        if (marks_.empty()) return text;
        std::size_t count = text.part(0, marks_[0].start).letters();
        if (count < 4 && marks_.size() == 1 && !(marks_[0].kinds & LINE)) return text;
        Buffer& body = body_.points;
        body.assign(text.text.begin(), text.text.begin() + marks_[0].start);
        bool listed = false;
        for (std::size_t k = 0; k < marks_.size(); k++) {
            const std::size_t end = k + 1 < marks_.size() ? marks_[k + 1].start : text.size();
            const Searched piece = text.part(marks_[k].end, end);
            const std::size_t stop = std::ranges::find(piece.text, U'\n') - piece.text.begin();
            const Reader line = piece.part(0, stop), rest = piece.part(std::min(stop + 1, piece.size()), piece.size());
            const bool is_answer = marks_[k].kinds & ANSWER, is_line = !is_answer && marks_[k].kinds & LINE;
            const std::size_t letters = piece.letters();
            bool more = !is_line && !finder.find(piece).empty();
            if (!is_line && !more && answer.points.empty() && letters > count) {
                listed = listed || !finder.find(body_.reader(text.tables)).empty();
                more = !listed;
            }
            if (more) {
                append(body, text.text.subspan(marks_[k].start, end - marks_[k].start));
                count += text.part(marks_[k].start, end).letters();
            } else if (is_answer) {
                append(answer.points, line.text);
                answer.points.push_back(U' ');
                explained |= rest.letters() >= 30;
            } else if (!is_line) {
                explained |= letters >= 10;
            } else {
                const bool is_long = line.letters() > 60;
                if (!is_long) {
                    append(notes, line.text);
                    notes.push_back(U' ');
                }
                body.push_back(U'\n');
                append(body, is_long ? piece.text : rest.text);
                count += is_long ? letters : rest.letters();
            }
        }
        return body_.reader(text.tables);
    }

private:
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

// Openings: each returns the place behind, or 0.

// (12) or (三) or [多选] or (2019年北京)
inline std::size_t bracketed_opening(const Reader& text, std::size_t i) {
    const std::size_t close = text.closing(i, 30), first = text.skip(i + 1), n = text.digits(first);
    if (!close) return 0;
    if (text.at(i) == U'[') return text.at(close) == U']' && !text.is_in(close + 1, U"{(") ? close + 1 : 0;
    const std::uint32_t century = 10 * (text.at(first) - U'0') + (text.at(first + 1) - U'0');
    if (n == 4 && (century == 19 || century == 20)) return close + 1;
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

// One number or heading that a text begins with: 12. or 第12题 or question 12 or 单选题 3、 or 1-2-3 or 1.2.3
inline std::size_t opening(const Reader& text, std::size_t i) {
    i = text.skip(i);
    if (text.is_in(i, U"([")) return bracketed_opening(text, i);
    if (const std::size_t end = paper_opening(text, i)) return end;
    if (text.at(i) == U'第') {  // 第十二条, and a space
        std::size_t j = i + 1;
        while (text.is(j, Class::digit) || text.is_in(j, U"零〇一二三四五六七八九十百")) j++;
        if (j > i + 1 && text.is_in(j, U"条章节课") && text.is(j + 1, Class::space)) return j + 1;
        i = text.skip(i + 1);
    }
    const auto found = text.phrase(i, NUMBERED | HEADING);
    if (found.length) {
        i = text.skip(i + found.length);
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
    if (text.at(end) == U'题' || (text.is_in(end, U".、:)") && !text.is(end + 1, Class::digit))) return end + 1;
    return found.kinds & NUMBERED ? i + n : 0;
}

// The text without the numbers, headings and names of papers that it begins with.
inline Searched strip_opening(const Searched& text) {
    std::size_t i = 0;
    for (std::size_t j; (j = opening(text, i)) > i;) i = j;
    const Searched rest = text.part(std::min(i, text.size()), text.size());
    return rest.letters(4) >= 4 ? rest : text;
}

}  // namespace dedup::judgment
