// TeX within markup: formulas that attributes and scripts hold, and what names an image one.
#pragma once
#include <algorithm>
#include <string_view>

#include "cleaning/page.hpp"

namespace dedup::cleaning {

// Without the delimiters that a formula brings along: $, \( \), \[ \].
inline Points without_delimiters(Points formula, const Characters& characters) {
    formula = characters.trimmed(formula);
    while (formula.size() >= 2 && formula.front() == '$' && formula.back() == '$') {
        if (formula.size() > 2 && formula[formula.size() - 2] == '\\') break;
        formula = characters.trimmed(formula.subspan(1, formula.size() - 2));
    }
    const std::size_t size = formula.size();
    if (size >= 4 && formula[0] == '\\' && formula[size - 2] == '\\') {
        const std::uint32_t opens = formula[1], closes = formula[size - 1];
        if ((opens == '(' && closes == ')') || (opens == '[' && closes == ']'))
            return characters.trimmed(formula.subspan(2, size - 4));
    }
    return formula;
}

// Writes a text as a formula; nothing, and false, if there is nothing but white space.
inline bool write_formula(Page& page, Points text, unsigned how) {
    Writer& out = page.out;
    const Place begin = out.size();
    out.append(FORMULA);
    page.copy(text, how);
    const Points formula = without_delimiters(out.from(begin + 1), page.characters);
    if (formula.empty()) {
        out.cut(begin);
        return false;
    }
    const Place first = formula.data() - out.data();
    out.take_back(first, first + std::ssize(formula), begin + 1);
    out.append(FORMULA_END);
    return true;
}

// Writes the formula that an attribute holds, if it does.
inline bool write_formula(Page& page, Attribute attribute) {
    return page.attributes.has(attribute) && write_formula(page, page.attributes[attribute], DECODES | PARSES);
}

// Whether a value holds a word of formulas; `tex` only as a word of its own: `text` is none.
inline bool names_formula(Points value, const Characters& characters) {
    constexpr std::string_view WORDS[] = {"math", "latex", "equation", "formula"};
    for (Place k = 0; k < std::ssize(value); k++) {
        const auto begins = [&](std::string_view word) {
            return lower(value[k]) == static_cast<std::uint32_t>(word[0]) && starts_with(value.subspan(k), word);
        };
        if (std::ranges::any_of(WORDS, begins)) return true;
        const auto is_alnum = [&](Place at) {
            return 0 <= at && at < std::ssize(value) && characters.is(value[at], ALNUM);
        };
        if (begins("tex") && !is_alnum(k - 1) && !is_alnum(k + 3)) return true;
    }
    return false;
}

// Whether class or address names an image a formula.
inline bool is_named_formula(const Page& page) {
    for (const Attribute attribute : {Attribute::class_, Attribute::src}) {
        if (attribute == Attribute::src && page.attributes.is_data(attribute)) continue;
        if (names_formula(page.attributes[attribute], page.characters)) return true;
    }
    return false;
}

// Whether an alternative text is made of words.
inline bool is_wordy(Points alt, const Characters& characters) {
    constexpr std::uint32_t FIRST_EASTERN = 0x2E80;
    constexpr int LONGEST_SYMBOL = 3;
    int letters = 0;
    for (const std::uint32_t point : alt) {
        letters = characters.is(point, LETTER) ? letters + 1 : 0;
        if (letters > LONGEST_SYMBOL || point >= FIRST_EASTERN) return true;
    }
    return false;
}

// Whether the alternative text of an image is a formula.
inline bool alt_is_formula(Page& page) {
    if (!page.attributes.has(Attribute::alt)) return false;
    const Points alt = page.decoded(Attribute::alt);
    for (std::size_t k = 0; k < alt.size(); k++) {
        if (alt[k] == '^' || alt[k] == '$') return true;
        if (k + 1 == alt.size()) break;
        if (alt[k] == '_' && alt[k + 1] == '{') return true;
        const bool is_path = k > 0 && alt[k - 1] == ':';
        if (alt[k] == '\\' && !is_path && page.characters.is(alt[k + 1], LETTER)) return true;
    }
    return is_named_formula(page) && !is_wordy(alt, page.characters);
}

}  // namespace dedup::cleaning
