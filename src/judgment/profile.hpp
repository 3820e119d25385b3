// What comparisons ask of a form, whatever it is compared with; what words and characters are to each other, in tables that
// Python makes; numerals and units in plain notation.
#pragma once
#include <string>

#include "judgment/form_tables.hpp"

namespace dedup::judgment {

// Groups of words: two are related if they share a group.
class Groups {
public:
    // Digests of words, each with the number of a group that it is in.
    explicit Groups(std::vector<std::pair<std::uint64_t, std::uint32_t>> members) {
        std::ranges::sort(members);
        ranges_.reset(members.size());
        for (const auto& [key, group] : members) {
            const auto [range, is_new] = ranges_[key_of(key)];
            groups_.push_back(group);
            range = range_of(is_new ? groups_.size() - 1 : range.begin, groups_.size());
        }
    }
    std::span<const std::uint32_t> of(std::uint64_t key) const { return ranges_.find(key_of(key)).of(groups_); }
    bool share(Points one, Points other) const {
        const auto a = of(digest(one)), b = of(digest(other));
        return std::ranges::find_first_of(a, b) != a.end();
    }

private:
    std::vector<std::uint32_t> groups_;
    HashTable<Range> ranges_;
};

// Words that are written in another way as well.
struct Spellings {
    enum Use : std::uint8_t { BEHIND_NUMBER = 1, SYMBOL = 2 };  // a unit behind a number; the symbol of one
    struct Spelling {
        std::uint8_t uses = 0;
        Points text;  // how it is written plainly, empty: as it is
    };
    HashTable<Spelling> words;  // by digest
    std::size_t longest_unit = 0;
    Buffer unit_starts;  // what units behind a number begin with, ascending

    Spelling find(Points word) const { return words.find(key_of(digest(word))); }
};

struct Relations {
    Groups opposites;  // words that exclude each other
    Groups alike;      // characters that look or sound alike
    Spellings spellings;
};

constexpr std::uint64_t LARGEST = 1'000'000'000'000'000;

// Chinese numerals: digits, two of which are written in two ways, and 十 and its like, which stand for a scale.
constexpr std::u32string_view NUMERALS = U"零一二三四五六七八九〇两十百千万亿";
constexpr int DIGITS[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 2};
constexpr std::uint64_t SCALES[] = {10, 100, 1000, 10'000, 100'000'000};

inline bool is_numeral(std::uint32_t point) { return NUMERALS.find(point) != NUMERALS.npos; }
inline int digit_of(std::uint32_t point) {  // -1 for others
    const std::size_t k = NUMERALS.find(point);
    return k < std::size(DIGITS) ? DIGITS[k] : -1;
}
inline std::uint64_t scale_of(std::uint32_t point) {  // 0 for others
    const std::size_t k = NUMERALS.find(point) - std::size(DIGITS);
    return k < std::size(SCALES) ? SCALES[k] : 0;
}

// A bit for each character of the basic plane, whether a number begins with it: every character is asked.
constexpr std::array<std::uint64_t, PLANE / 64> BEGINNINGS = [] {
    std::array<std::uint64_t, PLANE / 64> bits{};
    for (const auto some : {NUMERALS, std::u32string_view(U"0123456789")}) {
        for (const std::uint32_t point : some) bits[point / 64] |= std::uint64_t{1} << point % 64;
    }
    return bits;
}();
inline bool begins_number(std::uint32_t point) { return point < PLANE && BEGINNINGS[point / 64] >> point % 64 & 1; }

inline std::size_t end_of_numeral(Points text, std::size_t at) {
    while (at < text.size() && is_numeral(text[at])) at++;
    return at;
}

inline std::size_t end_of_number(Points text, std::size_t at) {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) at++;
    if (at > begin && at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
        at++;
        while (at < text.size() && is_digit(text[at])) at++;
    }
    return at;
}

// Writes a Chinese numeral in digits: 二〇二四, 一百零五, 三万; itself where it is none.
inline void write_value(Points run, Buffer& to) {
    const auto is_scale = [](std::uint32_t point) { return scale_of(point) > 0; };
    if (std::none_of(run.begin(), run.end(), is_scale)) {
        for (const std::uint32_t point : run) to.push_back('0' + digit_of(point));
        return;
    }
    const auto counts = [](std::uint32_t point) { return digit_of(point) >= 0 || point == U'十'; };
    if (std::none_of(run.begin(), run.end(), counts)) return append(to, run);
    std::uint64_t total = 0, section = 0, number = 0;
    for (const std::uint32_t point : run) {
        const std::uint64_t scale = scale_of(point);
        if (!scale) {
            number = digit_of(point);
            continue;
        }
        if (scale < 10'000) {
            section += std::max<std::uint64_t>(number, 1) * scale;
        } else {
            if (total + section + number > LARGEST / scale) return append(to, run);
            total = (total + section + number) * scale;
            section = 0;
        }
        number = 0;
    }
    for (const char c : std::to_string(total + section + number)) to.push_back(c);
}

// Writes 1.5 and 万 as 15000: the point moves.
inline void write_scaled(Points digits, std::size_t places, Buffer& to) {
    const std::size_t point = std::find(digits.begin(), digits.end(), '.') - digits.begin();
    const std::size_t start = to.size();
    const auto digit = [&](std::size_t i) { return i < digits.size() ? digits[i] : '0'; };
    std::size_t at = 0;
    for (; at < point; at++) to.push_back(digits[at]);
    for (std::size_t k = 0; k < places; k++) to.push_back(digit(++at));
    std::size_t zeros = 0;
    while (start + zeros + 1 < to.size() && to[start + zeros] == '0') zeros++;
    to.erase(to.begin() + start, to.begin() + start + zeros);
    std::size_t end = digits.size();
    while (end > at + 1 && digits[end - 1] == '0') end--;
    if (end <= at + 1) return;
    to.push_back('.');
    append(to, digits.subspan(at + 1, end - at - 1));
}

// Each of these writes what begins at a place, and returns where it ends.
inline std::size_t write_numeral(Points text, std::size_t at, Buffer& to) {
    const std::size_t end = end_of_numeral(text, at), next = end + 2;
    const Points run = text.subspan(at, end - at);
    const bool hundred = run.size() == 1 && run[0] == U'百';
    const bool fraction = next < text.size() && text[end] == U'分' && text[end + 1] == U'之';
    const std::size_t above = fraction ? end_of_numeral(text, next) : next;
    if (fraction && above > next) {
        write_value(text.subspan(next, above - next), to);
        to.push_back(hundred ? '%' : '/');
        if (!hundred) write_value(run, to);
        return above;
    }
    if (fraction && hundred && is_digit(text[next])) {
        const std::size_t last = end_of_number(text, next);
        append(to, text.subspan(next, last - next));
        to.push_back('%');
        return last;
    }
    write_value(run, to);
    return end;
}

inline std::size_t write_number(Points text, std::size_t at, Buffer& to) {
    const std::size_t end = end_of_number(text, at);
    const Points digits = text.subspan(at, end - at);
    const bool ten_thousand = end < text.size() && text[end] == U'万';
    if (!ten_thousand && !(end < text.size() && text[end] == U'亿')) {
        append(to, digits);
        return end;
    }
    write_scaled(digits, ten_thousand ? 4 : 8, to);
    return end + 1;
}

inline std::size_t write_unit(Points text, std::size_t at, const Spellings& spellings, Buffer& to) {
    const Points starts = spellings.unit_starts;
    if (at == text.size() || !std::binary_search(starts.begin(), starts.end(), text[at])) return at;
    for (std::size_t size = std::min(spellings.longest_unit, text.size() - at); size > 0; size--) {
        const Spellings::Spelling unit = spellings.find(text.subspan(at, size));
        if (!(unit.uses & Spellings::BEHIND_NUMBER)) continue;
        append(to, unit.text);
        return at + size;
    }
    return at;
}

// Appends a text with its numerals in digits, and units behind them as symbols.
inline void write_plainly(Points text, const Spellings& spellings, Buffer& to) {
    if (const Points whole = spellings.find(text).text; !whole.empty()) return append(to, whole);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t plain = std::find_if(text.begin() + at, text.end(), begins_number) - text.begin();
        append(to, text.subspan(at, plain - at));
        if ((at = plain) == text.size()) return;
        if (is_numeral(text[at])) {
            at = write_numeral(text, at, to);
        } else {
            at = write_number(text, at, to);
        }
        if (is_digit(to.back())) at = write_unit(text, at, spellings, to);
    }
}

// Appends digests of the numbers in such a text, and sorts them.
inline void find_numbers(Points plain, std::vector<std::uint64_t>& to) {
    const auto is_number = [](std::uint32_t point) { return is_digit(point) | is_circled(point); };
    for (std::size_t at = 0, end;; at = end) {
        at = std::find_if(plain.begin() + at, plain.end(), is_number) - plain.begin();
        if (at == plain.size()) break;
        end = is_digit(plain[at]) ? end_of_number(plain, at) : at + 1;
        to.push_back(digest(plain.subspan(at, end - at)));
    }
    std::sort(to.begin(), to.end());
}

// Without a branch, which would be foretold badly.
inline bool has_content(const Token& token) { return (token.kind != Kind::function) & (token.kind != Kind::blank); }

double weight_of(const auto& words) {
    double sum = 0;  // exact, in any order: float in double
    for (const auto& word : words) sum += word.weight;
    return sum;
}

// Tokens of stem and choices.
inline Range asked_of(const Form& form) {
    return {form.stem.begin, form.choices.empty() ? form.stem.end : form.choices.back().end};
}

inline std::span<const Token> asked(const Form& form) { return form.of(asked_of(form)); }

inline bool is_explained(const Form& form) { return form.text(form.of(form.explanation)).size() >= 10; }

inline std::uint32_t count_images(const Form& form) {
    return static_cast<std::uint32_t>(std::ranges::count(form.tokens, Kind::image, &Token::kind));
}

// How often each character is in what carries a meaning.
struct Letters {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> distinct;  // keys of characters, counts
    std::size_t size = 0;                                           // characters
};

// Tokens, and a hash of those with a meaning; its lowest bit tells whether it is long enough to be known again at another
// place.
struct Clause {
    Range tokens;
    std::uint64_t key;
};

// Signs that are no tokens, and a hash of the tokens that they stand between.
struct Sign {
    std::uint64_t context;
    std::uint32_t signs;
};

struct Profile {
    // Of the stem.
    std::vector<Clause> clauses;
    std::vector<std::uint64_t> numbers;  // digests, ascending
    double weight = 0;
    std::size_t han = 0, notation = 0;  // characters; tokens
    std::uint32_t last_clause = 0;
    bool asks = false;        // with a word, a question mark or a blank
    // Numbers of the explanation, each once, and of all but notes where there is one.
    std::vector<std::uint64_t> explained, known;
    // Of stem and choices.
    std::vector<std::uint64_t> grammar;  // keys of light words that may change what is said, ascending
    std::uint64_t order = 0, light = 0;  // hashes: of these in the order of the stem; of their texts, in any order
    Letters letters;
    bool has_image = false, has_emphasis = false;
    std::vector<Sign> signs;  // ascending by context
    // Of choices: the plain text of each, one after the other, and a hash of the words of each.
    Letters choice_letters;
    Buffer choices;
    std::vector<std::size_t> ends;
    std::vector<std::uint64_t> keys;

    // Whether other signs stand at one place; one more or fewer is layout.
    bool has_other_signs(const Profile& other) const {
        for (auto one = signs.begin(), its = other.signs.begin(); one != signs.end() && its != other.signs.end();) {
            const bool same = one->context == its->context;
            if (same && one->signs != its->signs) return true;
            const bool first = one->context <= its->context;
            its += same || !first;
            one += first;
        }
        return false;
    }
    Points choice(std::size_t i) const { return range_of(i ? ends[i - 1] : 0, ends[i]).of(choices); }
};

constexpr std::uint64_t PRIME = 0x9E3779B185EBCA87;

inline std::uint64_t hash(std::span<const std::uint64_t> keys) { return XXH3_64bits(keys.data(), keys.size_bytes()); }

// Those of tokens that say something; `room` holds them.
inline std::span<const std::uint64_t> keys_of(std::span<const Token> tokens, std::vector<std::uint64_t>& room) {
    if (room.size() < tokens.size()) room.resize(tokens.size());
    std::size_t count = 0;
    for (const Token& token : tokens) {
        room[count] = token.key;
        count += has_content(token) | ((token.flags & GRAMMAR) != 0);
    }
    return std::span(room).first(count);
}

// The clauses of a part; `keys` is room.
inline void find_clauses(const Form& form, Range part, std::vector<std::uint64_t>& keys, std::vector<Clause>& found) {
    found.clear();
    if (part.size()) found.reserve(form.tokens[part.end - 1].clause - form.tokens[part.begin].clause + 1);
    for (std::uint32_t at = part.begin; at < part.end;) {
        const std::uint32_t begin = at;
        while (at < part.end && form.tokens[at].clause == form.tokens[begin].clause) at++;
        const auto own = keys_of(form.of({begin, at}), keys);
        found.push_back({{begin, at}, (hash(own) & ~std::uint64_t{1}) | (own.size() >= 2)});
    }
}

class ProfileBuilder {
public:
    explicit ProfileBuilder(const Relations& relations) : relations_(relations) {}

    Profile build(const Form& form) {
        Profile profile;
        add_choices(form, profile);
        const auto stem = form.of(form.stem);
        find_clauses(form, form.stem, keys_, profile.clauses);
        text_.clear();
        write_plainly(form.text(stem), relations_.spellings, text_);
        find_numbers(text_, profile.numbers);
        if (form.explanation.size()) {
            add_numbers(form, form.explanation, profile.explained);
            const auto repeated = std::ranges::unique(profile.explained);
            profile.explained.erase(repeated.begin(), repeated.end());
            add_numbers(form, {0, form.explanation.end}, profile.known);
        }
        profile.han = std::ranges::count_if(form.text(stem), [](auto point) { return 0x3400 <= point && point < 0xA000; });
        for (const Token& token : stem) {
            profile.weight += token.weight;
            profile.notation += (token.kind == Kind::symbol) | (token.kind == Kind::letter) | (token.kind == Kind::number);
            profile.asks |= (token.flags & (ASKS | TASK | POLAR)) || token.kind == Kind::blank;
            profile.last_clause = std::max(profile.last_clause, token.kind == Kind::symbol ? 0 : token.clause);
        }
        std::uint64_t before = 0;
        for (const Token& token : form.of(asked_of(form))) {
            if (token.signs) profile.signs.push_back({std::rotl(before, 1) ^ token.key, token.signs});
            before = token.key;
            if (token.flags & GRAMMAR) {
                const bool in_stem = &token < stem.data() + stem.size();
                profile.order = in_stem ? profile.order * PRIME + token.key : profile.order + token.key * PRIME;
                profile.light += digest(form.text(token));
                profile.grammar.push_back(token.key);
            }
            profile.has_image |= token.kind == Kind::image;
            profile.has_emphasis |= (token.flags & EMPHASISED) != 0;
        }
        std::ranges::stable_sort(profile.signs, {}, &Sign::context);
        std::ranges::sort(profile.grammar);
        for (const std::uint32_t point : content(form, stem)) counts_[key_of(point)].value++;
        profile.letters = letters();
        return profile;
    }

private:
    // Leaves their letters counted.
    void add_choices(const Form& form, Profile& to) {
        counts_.reset(form.points.size());
        for (const Range range : form.choices) {
            const auto tokens = form.of(range);
            const Points text = content(form, tokens);
            for (const std::uint32_t point : text) counts_[key_of(point)].value++;
            write_plainly(text, relations_.spellings, to.choices);
            to.ends.push_back(to.choices.size());
            to.keys.push_back(hash(keys_of(tokens, keys_)));
        }
        to.choice_letters = letters();
    }

    // Those of each token by itself: 40, 200 is not 40200.
    void add_numbers(const Form& form, Range part, std::vector<std::uint64_t>& to) {
        text_.clear();
        for (const Token& token : form.of(part)) {
            write_plainly(form.text(token), relations_.spellings, text_);
            text_.push_back(U' ');
        }
        find_numbers(text_, to);
    }

    // The text of tokens with a meaning; valid until the next call. Short ones are copied without a branch.
    Points content(const Form& form, std::span<const Token> tokens) {
        constexpr std::size_t SHORT = 4;
        content_.resize(form.text(tokens).size() + SHORT);
        std::size_t size = 0;
        for (const Token& token : tokens) {
            const Points text = form.text(token);
            if (text.size() <= SHORT && token.begin + SHORT <= form.points.size())
                std::copy_n(form.points.begin() + token.begin, SHORT, content_.begin() + size);
            else
                std::ranges::copy(text, content_.begin() + size);
            size += has_content(token) ? text.size() : 0;
        }
        return Points(content_).first(size);
    }

    Letters letters() const {
        Letters letters;
        counts_.each([&](std::uint64_t key, std::uint32_t count) {
            letters.distinct.push_back({key, count});
            letters.size += count;
        });
        return letters;
    }

    const Relations& relations_;
    HashTable<std::uint32_t> counts_;  // by character
    std::vector<std::uint64_t> keys_;
    Buffer text_, content_;
};

}  // namespace dedup::judgment
