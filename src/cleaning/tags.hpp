// Decides which `<` of a text begins a tag, a comment or a declaration, and finds the end of that.
//
// Names of states are from the HTML standard (13.2.5, tokenization). The decision does not follow it: a browser takes `a<b且b>c`
// for a tag and loses it.
#pragma once
#include <optional>

#include "cleaning/attributes.hpp"

namespace dedup::cleaning {

// The markup that begins at a `<`.
struct Markup {
    Offset stop = NONE;     // behind it; NONE for text
    int number = NONE;      // of the element, NONE for an unknown one
    std::uint64_t key = 0;  // of the element's name
    std::uint32_t roles = 0;
    bool is_tag = false, closes = false, closes_itself = false;
    bool has_values = false;                    // of attributes
    Offset content_begin = 0, content_end = 0;  // of content that is read with the tag, 0 without any
};

class TagScanner {
public:
    // attributes: of the tag that was read last; set by `read`.
    TagScanner(const Vocabulary& vocabulary, Attributes& attributes) : vocabulary_(vocabulary), attributes_(attributes) {}

    Points text() const { return text_; }

    // Takes a text without its CDATA marks; returns whether it had any.
    bool take(Points text) {
        Offset marks = 0;
        for (Offset j = find(text, 0, '['); j < std::ssize(text); j = find(text, j + 1, '[')) marks += is_cdata(text, j - 2);
        text_ = marks ? without_marks(text, marks) : text;
        comments_end_ = true;
        speaks_of_tags_.reset();
        closing_.reset(0);
        at_ = noted_ = 0;
        return marks > 0;
    }

    // Whether a closing tag of an element begins at `from` or later, behind the `<` read last. Each is noted once.
    bool is_closed(std::uint64_t key, Offset from) {
        Offset last = closing_.find(key);
        for (noted_ = std::max(noted_, at_); last < from && noted_ + 1 < size(); noted_ = find(text_, noted_ + 1, '<')) {
            const ClosingTag tag = closing_tag(noted_);
            if (tag.end == NONE) continue;
            closing_[tag.key].value = noted_;
            if (tag.key == key) last = noted_;
        }
        return last >= from;
    }

    // The markup with its `<` at `j`, before another character: tag open state.
    Markup read(Offset j) {
        at_ = j;
        const std::uint32_t after = text_[j + 1];
        if (after == '/' || characters().is(after, LETTER)) return tag(j);
        Markup found;
        if (after == '!' && j + 3 < size() && text_[j + 2] == '-' && text_[j + 3] == '-') {
            if (!comments_end_) return {};
            found.stop = comment_end(j + 2);
            comments_end_ = found.stop != NONE;  // if one is open, all later ones are
        } else if (after == '!' || after == '?') {
            found.stop = declaration_end(j);
        }
        return found;
    }

private:
    static constexpr std::string_view CDATA = "<![CDATA[";

    struct ClosingTag {
        Offset end = NONE;
        std::uint64_t key = 0;
    };

    Offset size() const { return std::ssize(text_); }
    Points name(Offset begin, Offset stop) const { return text_.subspan(begin, stop - begin); }

    static bool is_cdata(Points text, Offset at) {
        return at >= 0 && at + std::ssize(CDATA) <= std::ssize(text) && std::ranges::equal(CDATA, text.subspan(at, CDATA.size()));
    }

    // Tag name state: letters and digits, with single marks between.
    Offset name_end(Offset at) const {
        if (at >= size() || !characters().is(text_[at], LETTER)) return NONE;
        for (at = characters().skip(text_, at, ALNUM);; at = characters().skip(text_, at + 1, ALNUM)) {
            if (at + 1 >= size() || !characters().is(text_[at], MARK) || !characters().is(text_[at + 1], ALNUM)) return at;
        }
    }

    bool ends_name(Offset at) const { return at < size() && (text_[at] == '>' || text_[at] == '/' || is_space(text_[at])); }

    // Before attribute name state and on: notes the values, returns the end of the tag; NONE for no tag or an untidy one.
    Offset attributes_end(Offset at, bool& has_values) {
        attributes_.clear();
        for (;;) {
            while (at < size() && (text_[at] == '/' || is_space(text_[at]))) at++;
            if (at < size() && text_[at] == '>') return at + 1;
            if (at == size() || !characters().is(text_[at], STARTS)) return NONE;
            has_values |= read_attribute(text_, at);
        }
    }

    // Notes the attribute whose name begins at `at`, and moves `at` behind it; returns whether it has a value.
    bool read_attribute(Points text, Offset& at) {
        const Offset begin = at;
        at = characters().skip(text, begin + 1, GOES_ON);  // attribute name state
        const ValueRange range = read_value(text, at);
        const int number = vocabulary_.meaning(Naming::attribute, name(begin, at));
        if (range.after == NONE) {
            if (number == static_cast<int>(Attribute::hidden)) attributes_.note(number, Points());
            return false;
        }
        const Points value = name(range.first, range.stop);
        if (number != NONE) attributes_.note(number, value);
        else if (!attributes_.has(Attribute::other) && is_path(value)) attributes_.note(static_cast<int>(Attribute::other), value);
        at = range.after;
        return true;
    }

    // The end of a tag with untidy attributes, style="font-family:"Arial"" or align=center". If only elements have its name,
    // it needs `=` anywhere; else `=` behind the name of the first attribute, if any.
    Offset untidy_end(Offset start, bool evident) const {
        const Offset end = angle_end(start);
        Offset at = characters().skip(text_, start, SPACE);
        if (end == NONE || (evident ? find(text_.first(end), at, '=') == end : at == start)) return NONE;
        if (evident) return end;
        if (characters().is(text_[at], LETTER)) {
            for (at++; text_[at] != '@' && characters().is(text_[at], GOES_ON);) at++;
        }
        return behind_equals(text_, at) == NONE ? NONE : end;
    }

    // Notes all attributes of an untidy tag; anything else is skipped.
    void search(Offset at, Offset stop) {
        attributes_.clear();
        while (at < stop) {
            if (characters().is(text_[at], STARTS)) read_attribute(text_.first(stop), at);
            else at++;
        }
    }

    // The offset behind the next `>` if no `<` comes before it.
    Offset angle_end(Offset at) const {
        at = find(text_, at, '<', '>');
        return at < size() && text_[at] == '>' ? at + 1 : NONE;
    }

    // End tag open state.
    ClosingTag closing_tag(Offset at) const {
        const Offset begin = at + 2;
        if (begin >= size() || text_[at + 1] != '/' || !characters().is(text_[begin], LETTER)) return {};
        const Offset stop = characters().skip(text_, begin, ALNUM | MARK);
        const Offset end = ends_name(stop) ? angle_end(stop) : NONE;
        return end == NONE ? ClosingTag{} : ClosingTag{end, Vocabulary::element_key(name(begin, stop))};
    }

    // Comment state: behind `-->` or `--!>`.
    Offset comment_end(Offset at) const {
        for (; at + 2 < size(); at++) {
            if (text_[at] != '-' || text_[at + 1] != '-') continue;
            if (text_[at + 2] == '>') return at + 3;
            if (text_[at + 2] == '!' && at + 3 < size() && text_[at + 3] == '>') return at + 4;
        }
        return NONE;
    }

    // Markup declaration open state: the end of `<!doctype>`, `<?xml>`, `<![if]>` and the like.
    Offset declaration_end(Offset at) const {
        if (text_[at + 1] == '?') {
            const bool is_known = begins(at + 2, "xml") || begins(at + 2, "import") || begins(at + 2, "mso");
            return is_known ? angle_end(at + 2) : NONE;
        }
        if (is_cdata(text_, at)) return at + std::ssize(CDATA);  // left of a mark within another
        const bool is_condition = at + 2 < size() && text_[at + 2] == '[';
        const Offset start = is_condition ? characters().skip(text_, at + 3, SPACE) : at + 2;
        for (const std::string_view word : {"if", "endif", "doctype"}) {
            if (is_condition == (word == "doctype") || !begins(start, word)) continue;
            const Offset stop = start + std::ssize(word);
            return stop < size() && characters().is(text_[stop], WORD) ? NONE : angle_end(stop);
        }
        return NONE;
    }

    // Whether a word of small letters begins here; case is ignored as in a pattern, also of the other forms of i and s.
    bool begins(Offset at, std::string_view word) const {
        constexpr std::uint32_t LONG_S = 0x17F, DOTTED_I = 0x130, DOTLESS_I = 0x131;
        const auto folded = [](std::uint32_t point) {
            return point == LONG_S ? 's' : point == DOTTED_I || point == DOTLESS_I ? 'i' : lower(point);
        };
        return at + std::ssize(word) <= size() && std::ranges::equal(text_.subspan(at, word.size()), word, {}, folded);
    }

    // A text without its CDATA marks, and without as many `]]>` behind the first mark.
    Points without_marks(Points text, Offset marks) {
        auto& left = without_marks_;
        left.clear();
        Offset floor = NONE;  // a `]]>` may begin there
        for (Offset j = 0; j < std::ssize(text);) {
            if (is_cdata(text, j)) {
                if (floor == NONE) floor = std::ssize(left);
                j += std::ssize(CDATA);
                continue;
            }
            left.push_back(text[j++]);
            const Offset end = std::ssize(left);
            const bool is_end = floor != NONE && end >= floor + 3 && starts_with(Points(left).subspan(end - 3), "]]>");
            if (marks && is_end) {
                left.resize(end - 3);
                floor = end - 3;
                marks--;
            }
        }
        const std::size_t size = left.size();
        left.resize(size + BEHIND);
        return Points(left).first(size);
    }

    // Tag open state, a letter or `/` behind it.
    Markup tag(Offset start) {
        Markup found;
        found.closes = text_[start + 1] == '/';
        const Offset begin = start + (found.closes ? 2 : 1);
        const Offset stop = name_end(begin);
        if (stop == NONE || !ends_name(stop)) return {};
        found.key = Vocabulary::element_key(name(begin, stop));
        found.number = vocabulary_.meaning(found.key);
        found.roles = found.number == NONE ? roles_of_other(begin, stop) : vocabulary_.element(found.number).roles;
        if (!found.roles && found.number == NONE) return {};
        Offset end = attributes_end(stop, found.has_values);
        if (end == NONE) {
            end = untidy_end(stop, found.roles & EVIDENT);
            if (end == NONE) return {};
            found.has_values = text_[characters().skip(text_, stop, SPACE)] != '=';
            search(begin, end);
        }
        found.closes_itself = end - 2 >= stop && text_[end - 2] == '/';
        const bool is_evident = found.roles & EVIDENT || found.closes || found.has_values || found.closes_itself;
        if (!is_evident && !is_meant(start, end, end == stop + 1, found)) return {};
        found.is_tag = true;
        found.stop = end;
        if (found.closes || found.closes_itself || !(found.roles & CLOSED)) return found;
        if (!is_closed(found.key, end)) return found.has_values ? found : Markup{};
        if (found.roles & (DROPS | SHOWS)) {  // RAWTEXT, RCDATA, script data state
            Offset j = find(text_, end, '<');
            while (closing_tag(j).key != found.key) j = find(text_, j + 1, '<');
            found.content_begin = end;
            found.content_end = j;
            found.stop = closing_tag(j).end;
        }
        return found;
    }

    // Whether a tag is one although its name has other uses and it has no values. is_bare: it is just a name.
    bool is_meant(Offset start, Offset end, bool is_bare, const Markup& found) {
        const bool is_paragraph = is_bare && found.roles & PARAGRAPH;
        if (is_paragraph && (start == 0 || text_[start - 1] == '>' || is_space(text_[start - 1]))) return true;
        const bool is_letter = is_paragraph || (is_bare && found.number != NONE && vocabulary_.element(found.number).spans);
        return is_closed(found.key, start + 1) || (is_letter && is_alone(start, end));
    }

    // Whether `<p>`, `<b>`, `<i>` or `<u>` is no comparison: an operand is missing, or both are Chinese. Not in a text about tags.
    bool is_alone(Offset start, Offset end) {
        constexpr std::u32string_view STOPS = U"。！？；：，、…—”》】.!?;:,\">\n\r", WORDS[] = {U"标签", U"标记"};
        constexpr auto is_han = [](std::uint32_t point) { return 0x2E80 <= point && point < 0xFF00; };
        const std::uint32_t before = start ? text_[start - 1] : U'\n', after = end < size() ? text_[end] : U'\n';
        const bool lacks_one = STOPS.find(before) != STOPS.npos || after == '<' || after == '\n' || after == '\r';
        if (is_space(before) && before != '\n' && before != '\r') return false;
        if (!lacks_one && !(is_han(before) && is_han(after))) return false;
        if (!speaks_of_tags_) speaks_of_tags_ = holds_any(text_, WORDS);
        return !*speaks_of_tags_;
    }

    // The roles of an unknown name, 0 if it is none of a tag.
    std::uint32_t roles_of_other(Offset begin, Offset stop) const {
        const Offset mark = characters().skip(text_, begin, ALNUM);
        if (mark == stop || (text_[mark] != ':' && text_[mark] != '-')) return 0;
        const bool is_office = vocabulary_.meaning(Vocabulary::element_key(name(begin, mark + 1))) != NONE;
        return is_office && characters().skip(text_, mark + 1, ALNUM) == stop ? EVIDENT : FOREIGN;
    }

    const Vocabulary& vocabulary_;
    Attributes& attributes_;
    Points text_;
    HashTable<Offset> closing_;         // by key of an element: the last closing tag that was noted
    Offset at_ = 0, noted_ = 0;         // of the markup that was read last; up to which closing tags are noted
    std::vector<std::uint32_t> without_marks_;
    bool comments_end_ = true;
    std::optional<bool> speaks_of_tags_;  // computed when it is needed
};

}  // namespace dedup::cleaning
