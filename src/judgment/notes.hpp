// What is no part of a task: points, where it is from, numbering, the answer and what explains it.
#pragma once
#include "judgment/choices.hpp"

namespace dedup::judgment {

using Buffer = std::vector<std::uint32_t>;

inline void append(Buffer& to, Points some) { to.insert(to.end(), some.begin(), some.end()); }

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

// Takes brackets that hold points, or say where the text is from, out of it.
inline void take_brackets(const Reader& text, Buffer& out, Buffer& notes) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = text.is_in(i, U"([") ? text.closing(i, 120) : 0;
        if (end) {
            const Reader inner = text.part(i + 1, end);
            if (is_points(inner) || (!text.is_in(end + 1, U"({") && inner.holds(BRACKET))) {
                append(notes, text.text.subspan(i, end + 1 - i));
                notes.push_back(U' ');
                out.push_back(U' ');
                i = end + 1;
                continue;
            }
        }
        out.push_back(text.at(i++));
    }
}

// Takes short sentences out in which a paper or a page speaks of itself.
inline void take_sentences(const Reader& text, Buffer& out, Buffer& notes) {
    for (std::size_t i = 0, end; i < text.size(); i = end) {
        end = i;
        while (end < text.size() && !text.is_in(end, U"\n。?!")) end++;
        end = std::min(end + 1, text.size());
        const Reader sentence = text.part(i, end);
        if (sentence.size() <= 80 && sentence.holds(NOTE)) {
            append(notes, sentence.text);
            notes.push_back(U' ');
            out.push_back(U'\n');
        } else {
            append(out, sentence.text);
        }
    }
}

class NoteSplitter {
public:
    Buffer body, answer;
    bool explained = false;

    // Splits a text into body, answer and, behind those that are there, notes. What follows a mark is
    // still the task where choices follow, or where most of the text does.
    void split(const Reader& text, ChoiceFinder& finder, Buffer& notes) {
        body.clear(), answer.clear();
        explained = false;
        find_marks(text);
        append(body, text.text.first(marks_.empty() ? text.size() : marks_[0].start));
        std::size_t count = reader(text, body).letters();
        if (marks_.empty()) return;
        if (count < 4 && marks_.size() == 1 && !(marks_[0].kinds & LINE)) {
            append(body, text.text.subspan(body.size()));
            return;
        }
        bool listed = false;
        for (std::size_t k = 0; k < marks_.size(); k++) {
            const std::size_t end = k + 1 < marks_.size() ? marks_[k + 1].start : text.size();
            const Reader piece = text.part(marks_[k].end, end);
            const auto stop = std::find(piece.text.begin(), piece.text.end(), U'\n') - piece.text.begin();
            const Reader line = piece.part(0, stop), rest = piece.part(std::min<std::size_t>(stop + 1, piece.size()), piece.size());
            const bool is_answer = marks_[k].kinds & ANSWER, is_line = !is_answer && marks_[k].kinds & LINE;
            const std::size_t letters = piece.letters();
            bool more = !is_line && !finder.find(piece).empty();
            if (!is_line && !more && answer.empty() && letters > count) {
                listed = listed || !finder.find(reader(text, body)).empty();
                more = !listed;
            }
            if (more) {
                append(body, text.text.subspan(marks_[k].start, end - marks_[k].start));
                count += text.part(marks_[k].start, end).letters();
            } else if (is_answer) {
                append(answer, line.text);
                answer.push_back(U' ');
                explained |= rest.letters() >= 30;
            } else if (!is_line) {
                explained |= letters >= 10;
            } else {
                const bool is_long = line.letters() > 60;
                if (!is_long) append(notes, line.text), notes.push_back(U' ');
                body.push_back(U'\n');
                append(body, is_long ? piece.text : rest.text);
                count += is_long ? letters : rest.letters();
            }
        }
    }

private:
    struct Mark {
        std::size_t start;
        std::size_t end;
        std::uint16_t kinds;
    };

    static Reader reader(const Reader& text, const Buffer& buffer) { return {text.tables, buffer}; }

    // 答案: and the like, at the start of a line or behind a space.
    void find_marks(const Reader& text) {
        marks_.clear();
        for (std::size_t i = 0; i < text.size();) {
            std::size_t end = 0;
            if ((i == 0 || text.is_in(i - 1, U"\n 。")) && !text.is_in(i, U"\n ")) {
                const std::size_t j = text.skip(text.is_in(i, U"([") ? i + 1 : i);
                const auto found = text.phrase(j, ANSWER | EXPLANATION | LINE);
                if (found.length) end = text.after_label(j + found.length, U":]");
                if (end) marks_.push_back({i, end, found.kinds});
            }
            i = end ? end : i + 1;
        }
    }

    std::vector<Mark> marks_;
};

// Openings: each returns the place behind, or 0.

// (12) or (三) or [多选] or (2019年北京)
inline std::size_t bracketed_opening(const Reader& text, std::size_t i) {
    const bool round = text.at(i) == U'(';
    std::size_t j = text.skip(i + 1);
    const std::size_t n = text.digits(j);
    if (round && 1 <= n && n <= 3 && text.at(text.skip(j + n)) == U')') {
        std::size_t end = text.skip(text.skip(j + n) + 1);
        end += text.is_in(end, U".、");
        const std::size_t behind = text.skip(end);
        return text.is(behind, Class::han) || text.is_latin(behind) || text.is_in(behind, U"$\\") ? end : 0;
    }
    if (const std::size_t one = round ? text.phrase(j, NUMERAL).length : 0) {
        j += one;
        j = text.skip(j + text.phrase(j, NUMERAL).length);
        return text.at(j) == U')' ? j + 1 : 0;
    }
    const std::size_t end = text.closing(i, 30);
    if (!round && end && text.at(end) == U']') return text.is_in(end + 1, U"{(") ? 0 : end + 1;
    const bool is_year = n == 4 && ((text.at(j) == U'1' && text.at(j + 1) == U'9') || (text.at(j) == U'2' && text.at(j + 1) == U'0'));
    return end && round && is_year ? end + 1 : 0;
}

// 2019年真题第48题
inline std::size_t paper_opening(const Reader& text, std::size_t i) {
    const std::size_t stop = i + 30;
    for (bool found = false; i < stop && i < text.size(); i++) {
        if (!text.is(i, Class::han) && !text.is(i, Class::digit) && !text.is_in(i, U"· ")) return 0;
        if (found && text.at(i) == U'第') {
            std::size_t j = text.skip(i + 1);
            const std::size_t n = text.digits(j);
            j = text.skip(j + n);
            if (1 <= n && n <= 3 && text.at(j) == U'题') return j + 1 + text.is_in(j + 1, U".、:");
        }
        found = found || text.phrase(i, PAPER).length;
    }
    return 0;
}

// 12. or 12题 or 1-2-3
inline std::size_t numbered_opening(const Reader& text, std::size_t i, std::size_t n) {
    std::size_t j = i + n;
    while (n <= 3 && text.at(j) == U'-' && 1 <= text.digits(j + 1) && text.digits(j + 1) <= 3) j += 1 + text.digits(j + 1);
    if (j > i + n) return text.is(j, Class::space) ? j : 0;
    j = text.skip(j);
    if (n > 4) return 0;
    return text.at(j) == U'题' || (text.is_in(j, U".、:") && !text.is(j + 1, Class::digit)) ? j + 1 : 0;
}

// One number or heading that a text begins with.
inline std::size_t opening(const Reader& text, std::size_t i) {
    i = text.skip(i);
    if (text.is_in(i, U"([")) return bracketed_opening(text, i);
    if (const std::size_t end = paper_opening(text, i)) return end;
    if (text.at(i) == U'第') i = text.skip(i + 1);
    if (const std::size_t n = text.digits(i)) return numbered_opening(text, i, n);
    const auto found = text.phrase(i, NUMBERED | HEADING);
    if (found.kinds & NUMBERED) {  // question 12.
        std::size_t j = text.skip(i + found.length);
        if (text.at(j) == U'.') j = text.skip(j + 1);
        const std::size_t n = text.digits(j), end = text.skip(j + n);
        if (1 <= n && n <= 4) return text.is_in(end, U".:)") ? end + 1 : j + n;
    }
    if (found.kinds & HEADING) {  // 单选题 3、
        std::size_t j = text.skip(i + found.length);
        const std::size_t n = text.digits(j);
        j = text.skip(j + n);
        if (n <= 3 && text.is_in(j, U".、:")) return j + 1;
    }
    return 0;
}

// The text without the numbers, headings and names of papers that it begins with.
inline Reader strip_opening(const Reader& text) {
    std::size_t i = 0;
    for (std::size_t j; (j = opening(text, i)) > i;) i = j;
    const Reader rest = text.part(std::min(i, text.size()), text.size());
    return rest.letters() >= 4 ? rest : text;
}

}  // namespace dedup::judgment
