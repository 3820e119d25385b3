// Numerals and units in plain notation; profiles of forms.
#include "judgment/profile.hpp"

#include <string>

namespace dedup::judgment {

namespace {

constexpr std::uint64_t LARGEST = 1'000'000'000'000'000;

// Chinese numerals: digits, two of which are written in two ways, and 十 and its like, which stand for a scale.
constexpr std::u32string_view NUMERALS = U"零一二三四五六七八九〇两十百千万亿";
constexpr int DIGITS[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 2};
constexpr std::uint64_t SCALES[] = {10, 100, 1000, 10'000, 100'000'000};

bool is_numeral(std::uint32_t point) { return NUMERALS.find(point) != NUMERALS.npos; }
int digit_of(std::uint32_t point) {  // -1 for others
    const std::size_t k = NUMERALS.find(point);
    return k < std::size(DIGITS) ? DIGITS[k] : -1;
}
std::uint64_t scale_of(std::uint32_t point) {  // 0 for others
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
bool begins_number(std::uint32_t point) { return point < PLANE && BEGINNINGS[point / 64] >> point % 64 & 1; }

std::size_t end_of_numeral(Points text, std::size_t at) {
    while (at < text.size() && is_numeral(text[at])) at++;
    return at;
}

std::size_t end_of_number(Points text, std::size_t at) {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) at++;
    if (at > begin && at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
        at++;
        while (at < text.size() && is_digit(text[at])) at++;
    }
    return at;
}

// Writes a Chinese numeral in digits: 二〇二四, 一百零五, 三万; itself where it is none.
void write_value(Points run, Buffer& to) {
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
void write_scaled(Points digits, std::size_t places, Buffer& to) {
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
std::size_t write_numeral(Points text, std::size_t at, Buffer& to) {
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

std::size_t write_number(Points text, std::size_t at, Buffer& to) {
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

std::size_t write_unit(Points text, std::size_t at, const Spellings& spellings, Buffer& to) {
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

}  // namespace

void write_plainly(Points text, const Spellings& spellings, Buffer& to) {
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

void find_numbers(Points plain, std::vector<std::uint64_t>& to) {
    const auto is_number = [](std::uint32_t point) { return is_digit(point) | is_circled(point); };
    for (std::size_t at = 0, end;; at = end) {
        at = std::find_if(plain.begin() + at, plain.end(), is_number) - plain.begin();
        if (at == plain.size()) break;
        end = is_digit(plain[at]) ? end_of_number(plain, at) : at + 1;
        to.push_back(digest(plain.subspan(at, end - at)));
    }
    std::sort(to.begin(), to.end());
}

namespace {

constexpr std::uint64_t PRIME = 0x9E3779B185EBCA87;

std::uint64_t hash(std::span<const std::uint64_t> keys) { return XXH3_64bits(keys.data(), keys.size_bytes()); }

// Those of tokens that say something; `room` holds them.
std::span<const std::uint64_t> keys_of(std::span<const Token> tokens, std::vector<std::uint64_t>& room) {
    if (room.size() < tokens.size()) room.resize(tokens.size());
    std::size_t count = 0;
    for (const Token& token : tokens) {
        room[count] = token.key;
        count += has_content(token) | ((token.flags & GRAMMAR) != 0);
    }
    return std::span(room).first(count);
}

}  // namespace

Letters ProfileBuilder::letters() const {
    Letters letters;
    counts_.each([&](std::uint64_t key, std::uint32_t count) {
        letters.distinct.push_back({key, count});
        letters.size += count;
    });
    return letters;
}

bool Profile::has_other_signs(const Profile& other) const {
    for (auto one = signs.begin(), its = other.signs.begin(); one != signs.end() && its != other.signs.end();) {
        const bool same = one->context == its->context;
        if (same && one->signs != its->signs) return true;
        const bool first = one->context <= its->context;
        its += same || !first;
        one += first;
    }
    return false;
}

Profile ProfileBuilder::build(const Form& form) {
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

// Those of each token by itself: 40, 200 is not 40200.
void ProfileBuilder::add_numbers(const Form& form, Range part, std::vector<std::uint64_t>& to) {
    text_.clear();
    for (const Token& token : form.of(part)) {
        write_plainly(form.text(token), relations_.spellings, text_);
        text_.push_back(U' ');
    }
    find_numbers(text_, to);
}

// The text of tokens with a meaning; valid until the next call. Short ones are copied without a branch.
Points ProfileBuilder::content(const Form& form, std::span<const Token> tokens) {
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

// Leaves their letters counted.
void ProfileBuilder::add_choices(const Form& form, Profile& to) {
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

void find_clauses(const Form& form, Range part, std::vector<std::uint64_t>& keys, std::vector<Clause>& found) {
    found.clear();
    if (part.size()) found.reserve(form.tokens[part.end - 1].clause - form.tokens[part.begin].clause + 1);
    for (std::uint32_t at = part.begin; at < part.end;) {
        const std::uint32_t begin = at;
        while (at < part.end && form.tokens[at].clause == form.tokens[begin].clause) at++;
        const auto own = keys_of(form.of({begin, at}), keys);
        found.push_back({{begin, at}, (hash(own) & ~std::uint64_t{1}) | (own.size() >= 2)});
    }
}

}  // namespace dedup::judgment
