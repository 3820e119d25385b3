// Which `<` of a text begins a tag, a comment or a declaration, and where that ends.
//
// States are those of the HTML standard (13.2.5, tokenization), where it is followed. It is not in what counts
// as a tag: a browser takes `a<b且b>c` for one and loses it.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>

#include "cleaning/attributes.hpp"

namespace dedup::cleaning {

// What stands at a `<`.
struct Markup {
    Place stop = NONE;  // behind it; NONE: text
    int number = NONE;  // of the element
    std::uint32_t roles = 0;
    bool is_tag = false, closes = false, closes_itself = false;
    bool has_values = false;       // of attributes
    bool is_untidy = false;        // its values are to be searched
    Place shown = 0, hidden = 0;  // where content that is read with the tag begins and ends, 0 without any
};

class TagScanner {
public:
    // attributes: take those of the tag that was read last.
    TagScanner(const Vocabulary& vocabulary, Attributes& attributes)
        : vocabulary_(vocabulary), attributes_(attributes), closing_(vocabulary.elements()) {}

    Points text() const { return text_; }

    // Takes a text; tells of a CDATA mark anywhere.
    bool take(Points text) {
        text_ = text;
        comments_end_ = true;
        foreign_read_ = false;
        foreign_.clear();
        speaks_of_tags_.reset();
        std::fill(closing_.begin(), closing_.end(), NONE);
        at_ = noted_ = 0;
        for (Place j = find(text, 0, '['); j < size(); j = find(text, j + 1, '[')) {
            if (j >= 2 && begins(j - 2, CDATA)) return true;
        }
        return false;
    }

    // Takes a text without its CDATA marks; tells whether it had any.
    bool take_without_marks(Points text) {
        if (!take(text)) return false;
        take(drop_marks(text));
        return true;
    }

    // Whether a closing tag of an element begins at `from` or later, which lies behind the markup that was read last.
    // Each is noted when it is first passed.
    bool is_closed(int number, Place from) {
        noted_ = std::max(noted_, at_);
        while (closing_[number] < from && noted_ + 1 < size()) {
            const ClosingTag tag = closing_tag(noted_);
            if (tag.number != NONE) closing_[tag.number] = noted_;
            noted_ = find(text_, noted_ + 1, '<');
        }
        return closing_[number] >= from;
    }

    // The markup with its `<` at `j`, before another character: tag open state.
    Markup read(Place j) {
        at_ = j;
        const std::uint32_t after = text_[j + 1];
        if (after == '/' || characters().is(after, LETTER)) return tag(j);
        Markup found;
        if (after == '!' && j + 3 < size() && text_[j + 2] == '-' && text_[j + 3] == '-') {
            if (!comments_end_) return {};
            found.stop = comment_end(j + 2);
            comments_end_ = found.stop != NONE;  // where one does not, no later one does
        } else if (after == '!' || after == '?') {
            found.stop = declaration_end(j);
        }
        return found;
    }

    // Notes all attributes of a tag that is an image, or whose attributes are untidy; what is none is passed over.
    void search(Place at, Place stop) {
        attributes_.clear();
        while (at < stop) {
            if (characters().is(text_[at], STARTS)) read_attribute(text_.first(stop), at, true);
            else at++;
        }
    }

private:
    static constexpr std::string_view CDATA = "<![CDATA[";

    struct ClosingTag {
        Place end = NONE;
        int number = NONE;
    };

    Place size() const { return std::ssize(text_); }
    Points name(Place begin, Place stop) const { return text_.subspan(begin, stop - begin); }

    // Tag name state: letters and digits, with single marks between.
    Place name_end(Place at) const {
        if (at >= size() || !characters().is(text_[at], LETTER)) return NONE;
        for (at = characters().skip(text_, at, ALNUM);; at = characters().skip(text_, at + 1, ALNUM)) {
            if (at + 1 >= size() || !characters().is(text_[at], MARK)) return at;
            if (!characters().is(text_[at + 1], ALNUM)) return at;
        }
    }

    bool ends_name(Place at) const {
        return at < size() && (text_[at] == '>' || text_[at] == '/' || characters().is(text_[at], SPACE));
    }

    // Before attribute name state and on: notes the values, returns where the tag ends, behind its `>`; NONE where
    // it is none, or has quotes inside quotes.
    Place attributes_end(Place at, bool& has_values) {
        attributes_.clear();
        for (;;) {
            while (at < size() && (text_[at] == '/' || characters().is(text_[at], SPACE))) at++;
            if (at < size() && text_[at] == '>') return at + 1;
            if (at == size() || !characters().is(text_[at], STARTS)) return NONE;
            has_values |= read_attribute(text_, at, false);
        }
    }

    // Notes the attribute whose name begins at `at`, which goes behind it; tells whether it has a value. searches: for
    // addresses under any other name, too.
    bool read_attribute(Points text, Place& at, bool searches) {
        const Place begin = at;
        at = characters().skip(text, begin + 1, GOES_ON);  // attribute name state
        const ValuePlace place = read_value(text, at);
        const int number = vocabulary_.meaning(Naming::attribute, name(begin, at));
        if (place.after == NONE) {
            if (number == static_cast<int>(Attribute::hidden)) attributes_.note(number, Points());
            return false;
        }
        const Points value = name(place.first, place.stop);
        if (number != NONE) attributes_.note(number, value);
        else if (searches && is_path(value)) attributes_.note(static_cast<int>(Attribute::other), value);
        at = place.after;
        return true;
    }

    // Where a tag ends with untidy attributes, style="font-family:"Arial"" or align=center". Behind a name that is
    // none but of an element, `=` anywhere tells that there are such; else it follows the first one's name, if any.
    Place untidy_end(Place start, bool evident) const {
        const Place end = angle_end(start);
        Place at = characters().skip(text_, start, SPACE);
        if (end == NONE || (evident ? find(text_.first(end), at, '=') == end : at == start)) return NONE;
        if (evident) return end;
        if (characters().is(text_[at], LETTER)) {
            for (at++; text_[at] != '@' && characters().is(text_[at], GOES_ON);) at++;
        }
        return behind_equals(text_, at) == NONE ? NONE : end;
    }

    // Behind the next `>` if no `<` comes before it.
    Place angle_end(Place at) const {
        at = find(text_, at, '<', '>');
        return at < size() && text_[at] == '>' ? at + 1 : NONE;
    }

    // End tag open state.
    ClosingTag closing_tag(Place at) const {
        const Place begin = at + 2;
        if (begin >= size() || text_[at + 1] != '/' || !characters().is(text_[begin], LETTER)) return {};
        const Place stop = characters().skip(text_, begin, ALNUM | MARK);
        const Place end = ends_name(stop) ? angle_end(stop) : NONE;
        if (end == NONE) return {};
        return {end, vocabulary_.meaning(Naming::element, name(begin, stop))};
    }

    // Comment state: behind `-->` or `--!>`.
    Place comment_end(Place at) const {
        for (; at + 2 < size(); at++) {
            if (text_[at] != '-' || text_[at + 1] != '-') continue;
            if (text_[at + 2] == '>') return at + 3;
            if (text_[at + 2] == '!' && at + 3 < size() && text_[at + 3] == '>') return at + 4;
        }
        return NONE;
    }

    // Markup declaration open state: where `<!doctype>`, `<?xml>`, `<![if]>` and their like end.
    Place declaration_end(Place at) const {
        if (text_[at + 1] == '?') {
            for (const std::string_view word : {"xml", "import", "mso"}) {
                if (begins(at + 2, word)) return angle_end(at + 2);
            }
            return NONE;
        }
        if (at + 2 < size() && text_[at + 2] == '[') {
            if (begins(at, CDATA)) return at + std::ssize(CDATA);  // left where two marks stood in each other
            const Place start = characters().skip(text_, at + 3, SPACE);
            for (const std::string_view word : {"if", "endif"}) {
                if (begins(start, word)) return behind_word(start + std::ssize(word));
            }
            return NONE;
        }
        constexpr std::string_view DOCTYPE = "doctype";
        return begins(at + 2, DOCTYPE) ? behind_word(at + 2 + std::ssize(DOCTYPE)) : NONE;
    }

    Place behind_word(Place at) const {
        return at < size() && characters().is(text_[at], WORD) ? NONE : angle_end(at);
    }

    // Whether a word of small letters, or capital ones, or marks, begins here. The few other letters that
    // Unicode takes for an i or s count as such, as in a pattern that ignores case.
    bool begins(Place at, std::string_view word) const {
        constexpr std::uint32_t LONG_S = 0x17F, DOTTED_I = 0x130, DOTLESS_I = 0x131;
        if (at + std::ssize(word) > size()) return false;
        for (const char letter : word) {
            const std::uint32_t point = text_[at++], wanted = static_cast<std::uint32_t>(letter);
            const bool alike = point == wanted || lower(point) == wanted || (point == LONG_S && wanted == 's') ||
                               ((point == DOTTED_I || point == DOTLESS_I) && wanted == 'i');
            if (!alike) return false;
        }
        return true;
    }

    // Returns a text without its CDATA marks and as many `]]>` behind the first. The ends are looked for in
    // what is left once the beginnings are gone.
    Points drop_marks(Points text) {
        auto& left = without_marks_;
        left.clear();
        Place marks = 0, first = NONE;
        for (Place j = 0; j < std::ssize(text);) {
            if (text[j] == '<' && begins(j, CDATA)) {
                if (first == NONE) first = std::ssize(left);
                marks++;
                j += std::ssize(CDATA);
            } else {
                left.push_back(text[j++]);
            }
        }
        const Place end = std::ssize(left);
        Place at = first;
        for (Place j = first; j < end;) {
            if (marks && j + 2 < end && left[j] == ']' && left[j + 1] == ']' && left[j + 2] == '>') {
                marks--;
                j += 3;
            } else {
                left[at++] = left[j++];
            }
        }
        left.resize(at + BEHIND);
        return Points(left).first(at);
    }

    // Tag open state, a letter or `/` behind it.
    Markup tag(Place start) {
        Markup found;
        found.closes = text_[start + 1] == '/';
        const Place begin = start + (found.closes ? 2 : 1);
        const Place stop = name_end(begin);
        if (stop == NONE || !ends_name(stop)) return {};
        found.number = vocabulary_.meaning(Naming::element, name(begin, stop));
        found.roles = found.number == NONE ? roles_of_other(begin, stop) : vocabulary_.element(found.number).roles;
        if (!found.roles && found.number == NONE) return {};
        Place end = attributes_end(stop, found.has_values);
        if (end == NONE) {
            end = untidy_end(stop, found.roles & EVIDENT);
            if (end == NONE) return {};
            found.is_untidy = true;
            found.has_values = text_[characters().skip(text_, stop, SPACE)] != '=';
        }
        found.closes_itself = end - 2 >= stop && text_[end - 2] == '/';
        const bool evident = found.roles & EVIDENT || found.closes || found.has_values || found.closes_itself;
        if (!evident && !is_meant(start, begin, stop, end, found)) return {};
        found.is_tag = true;
        found.stop = end;
        if (found.closes || found.closes_itself || !(found.roles & CLOSED)) return found;
        if (!is_closed(found.number, end)) return found.has_values ? found : Markup{};
        if (found.roles & (DROPS | SHOWS)) {  // RAWTEXT, RCDATA, script data state
            const auto [hidden, behind] = content_end(end, found.number);
            found.shown = end;
            found.hidden = hidden;
            found.stop = behind;
        }
        return found;
    }

    // Whether a tag is one although its name has other uses and it has no attribute.
    bool is_meant(Place start, Place begin, Place stop, Place end, const Markup& found) {
        if (found.number == NONE) return last_of_foreign(begin, stop) > start;
        const bool is_letter = end == stop + 1 && (found.roles & PARAGRAPH || vocabulary_.element(found.number).spans);
        const bool starts_text = start == 0 || text_[start - 1] == '>' || characters().is(text_[start - 1], SPACE);
        if (found.roles & PARAGRAPH && end == stop + 1 && starts_text) return true;
        return is_closed(found.number, start + 1) || (is_letter && is_alone(start, end));
    }

    // Whether `<p>`, `<b>`, `<i>` or `<u>` is none of a comparison: no operand is before or behind it, or there is Chinese on
    // both sides. Never in a text that speaks of tags.
    bool is_alone(Place start, Place end) {
        constexpr std::u32string_view STOPS = U"。！？；：，、…—”》】.!?;:,\">\n\r";
        constexpr auto is_han = [](std::uint32_t point) { return 0x2E80 <= point && point < 0xFF00; };
        const std::uint32_t before = start ? text_[start - 1] : U'\n', after = end < size() ? text_[end] : U'\n';
        const bool lacks_one = STOPS.find(before) != STOPS.npos || after == '<' || after == '\n' || after == '\r';
        if (characters().is(before, SPACE) && before != '\n' && before != '\r') return false;
        if (!lacks_one && !(is_han(before) && is_han(after))) return false;
        if (!speaks_of_tags_) speaks_of_tags_ = holds_any(text_, {U"标签", U"标记"});
        return !*speaks_of_tags_;
    }

    // The roles of a name that is no element's, 0 if it is none of a tag.
    std::uint32_t roles_of_other(Place begin, Place stop) const {
        const Place mark = characters().skip(text_, begin, ALNUM);
        if (mark == stop || (text_[mark] != ':' && text_[mark] != '-')) return 0;
        const bool office = vocabulary_.meaning(Naming::element, name(begin, mark + 1)) != NONE;
        return office && characters().skip(text_, mark + 1, ALNUM) == stop ? EVIDENT : FOREIGN;
    }

    // Where the next closing tag of an element begins and ends; there is one.
    std::pair<Place, Place> content_end(Place j, int number) const {
        for (;; j++) {
            j = find(text_, j, '<');
            const ClosingTag tag = closing_tag(j);
            if (tag.number == number) return {j, tag.end};
        }
    }

    // Where the last closing tag of a name that no table holds begins, NONE without one.
    Place last_of_foreign(Place begin, Place stop) {
        for (Place j = foreign_read_ ? size() : find(text_, 0, '<'); j + 2 < size(); j = find(text_, j + 1, '<')) {
            if (text_[j + 1] != '/' || !characters().is(text_[j + 2], LETTER)) continue;
            const Place end = characters().skip(text_, j + 2, ALNUM | MARK);
            if (ends_name(end) && angle_end(end) != NONE) foreign_[small_name(j + 2, end)] = j;
        }
        foreign_read_ = true;
        const auto found = foreign_.find(small_name(begin, stop));
        return found == foreign_.end() ? NONE : found->second;
    }

    std::u32string small_name(Place begin, Place stop) const {
        std::u32string letters;
        for (Place k = begin; k < stop; k++) letters += static_cast<char32_t>(lower(text_[k]));
        return letters;
    }

    const Vocabulary& vocabulary_;
    Attributes& attributes_;
    Points text_;
    std::vector<Place> closing_;             // by element: the last closing tag that was noted
    Place at_ = 0, noted_ = 0;               // the markup that was read last; how far closing tags are noted
    std::vector<std::uint32_t> without_marks_;
    std::unordered_map<std::u32string, Place> foreign_;  // the last closing tags of other names
    bool comments_end_ = true, foreign_read_ = false;
    std::optional<bool> speaks_of_tags_;     // unknown until it matters
};

}  // namespace dedup::cleaning
