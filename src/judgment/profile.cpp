// Numerals and units in one notation; profiles of forms; words that one of two texts has alone, and titles.
#include <cmath>
#include <string>

#include "judgment/features.hpp"

namespace dedup::judgment {
namespace {

constexpr std::uint64_t LARGEST = 1'000'000'000'000'000;

// Chinese numerals: digits, two of which have two forms, then scales, 十 first.
constexpr std::u32string_view NUMERALS = U"零一二三四五六七八九〇两十百千万亿";
constexpr std::uint64_t VALUES[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 2, 10, 100, 1000, 10'000, 100'000'000};
constexpr std::size_t SCALES = 12;  // index of the first one

// A bit for each character of the basic plane, whether a number begins with it: every character is asked.
constexpr std::array<std::uint64_t, PLANE / 64> BEGINNINGS = [] {
    std::array<std::uint64_t, PLANE / 64> bits{};
    for (const auto some : {NUMERALS, std::u32string_view(U"0123456789")}) {
        for (const std::uint32_t point : some) bits[point / 64] |= std::uint64_t{1} << point % 64;
    }
    return bits;
}();
bool begins_number(std::uint32_t point) { return point < PLANE && BEGINNINGS[point / 64] >> point % 64 & 1; }
bool is_numeral(std::uint32_t point) { return begins_number(point) && !is_digit(point); }

// Behind the characters from `at` on that pass a test.
std::size_t end_of(Points text, std::size_t at, auto test) {
    while (at < text.size() && test(text[at])) at++;
    return at;
}

std::size_t end_of_number(Points text, std::size_t at) {
    const std::size_t end = end_of(text, at, is_digit);
    const bool has_decimals = end > at && end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1]);
    return has_decimals ? end_of(text, end + 1, is_digit) : end;
}

// Writes a Chinese numeral in digits: 二〇二四, 一百零五, 三万; itself if it is none.
void write_value(Points run, Buffer& to) {
    const auto is_scale = [](std::uint32_t point) { return NUMERALS.find(point) >= SCALES; };
    const auto counts = [](std::uint32_t point) { return NUMERALS.find(point) <= SCALES; };
    if (std::ranges::none_of(run, is_scale)) {
        for (const std::uint32_t point : run) to.push_back('0' + VALUES[NUMERALS.find(point)]);
        return;
    }
    if (std::ranges::none_of(run, counts)) return append(to, run);
    std::uint64_t total = 0, section = 0, number = 0;
    for (const std::uint32_t point : run) {
        const std::uint64_t value = VALUES[NUMERALS.find(point)];
        if (!is_scale(point)) {
            number = value;
            continue;
        }
        if (value < 10'000) {
            section += std::max<std::uint64_t>(number, 1) * value;
        } else {
            if (total + section + number > LARGEST / value) return append(to, run);
            total = (total + section + number) * value;
            section = 0;
        }
        number = 0;
    }
    dedup::append(to, std::to_string(total + section + number));
}

// Writes 1.5 and 万 as 15000: the point moves.
void write_scaled(Points digits, std::size_t places, Buffer& to) {
    const Points whole = digits.first(std::ranges::find(digits, '.') - digits.begin());
    const Points decimals = digits.subspan(std::min(whole.size() + 1, digits.size()));
    Buffer moved(whole.begin(), whole.end());
    for (std::size_t k = 0; k < places; k++) moved.push_back(k < decimals.size() ? decimals[k] : '0');
    const auto is_zero = [](std::uint32_t point) { return point == '0'; };
    append(to, Points(moved).subspan(std::min(end_of(moved, 0, is_zero), moved.size() - 1)));
    Points rest = decimals.subspan(std::min(places, decimals.size()));
    while (!rest.empty() && is_zero(rest.back())) rest = rest.first(rest.size() - 1);
    if (rest.empty()) return;
    to.push_back('.');
    append(to, rest);
}

// Each of these writes a number from `at` on, and returns its end.
std::size_t write_numeral(Points text, std::size_t at, Buffer& to) {
    const std::size_t end = end_of(text, at, is_numeral), next = end + 2;
    const Points run = text.subspan(at, end - at);
    const bool hundred = run.size() == 1 && run[0] == U'百';
    const bool fraction = next < text.size() && text[end] == U'分' && text[end + 1] == U'之';
    const std::size_t above = fraction ? end_of(text, next, is_numeral) : next;
    if (above > next) {
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

std::size_t write_digits(Points text, std::size_t at, Buffer& to) {
    const std::size_t end = end_of_number(text, at);
    const Points digits = text.subspan(at, end - at);
    const std::size_t places = end == text.size() ? 0 : text[end] == U'万' ? 4 : text[end] == U'亿' ? 8 : 0;
    if (places)
        write_scaled(digits, places, to);
    else
        append(to, digits);
    return end + (places > 0);
}

std::size_t write_unit(Points text, std::size_t at, const FormTables& tables, Buffer& to) {
    if (at == text.size() || !tables.has(text[at], FormTables::UNIT_START)) return at;
    for (std::size_t size = std::min(tables.longest_unit, text.size() - at); size > 0; size--) {
        const FormTables::Spelling unit = tables.spelling(text.subspan(at, size));
        if (!(unit.flags & BEHIND_NUMBER)) continue;
        append(to, unit.text);
        return at + size;
    }
    return at;
}

constexpr std::size_t LONGEST_TITLE = 60;    // characters
constexpr double LEAST_CHANGE = 5;           // weight: less is a light word

// Whether a number is in a clause with two words, Chinese ones in a Chinese text: else it is a date, a counter or an address.
bool is_in_sentence(std::span<const Token> tokens, std::size_t number, bool han) {
    const auto in_clause = [&](std::size_t i) { return i < tokens.size() && tokens[i].clause == tokens[number].clause; };
    std::size_t words = 0, i = number;
    while (i > 0 && in_clause(i - 1)) i--;
    for (; in_clause(i); i++) words += tokens[i].kind == Kind::word && !(han && tokens[i].flags & LATIN);
    return words >= 2;
}

// Calls take(word, the same word of the other form or null) for each word of a form.
void each_word(const Form& form, const Form& other, auto take) {
    auto next = other.profile->words.begin();
    const auto end = other.profile->words.end();
    for (const Word& word : form.profile->words) {
        while (next != end && next->key < word.key) next++;
        take(word, next != end && next->key == word.key ? &*next : nullptr);
    }
}

// Words of one form that the other lacks: their weight, each once; the greatest of one, by how often it occurs; a number.
struct OwnWords {
    double weight = 0, named = 0;
    bool has_number = false;

    OwnWords(const Form& form, const Form& other, Keys alike, bool numbers) {
        const auto is_alike = [&](std::uint64_t key) { return std::ranges::find(alike, key) != alike.end(); };
        each_word(form, other, [&](const Word& word, const Word* counterpart) {
            if (counterpart || word.image || is_alike(word.key)) return;
            weight += word.weight;
            named = std::max(named, word.weight * std::log1p(word.count));
        });
        const auto tokens = asked(form);
        for (std::size_t i = 0; numbers && i < tokens.size() && !has_number; i++) {
            const std::uint64_t key = tokens[i].key;
            has_number = tokens[i].kind == Kind::number && !other.profile->has_word(key) && !is_alike(key) &&
                         is_in_sentence(tokens, i, form.profile->han > 0);
        }
    }
};

// Words of a title that the other one lacks. In a Chinese text, words in Latin letters are identifiers.
struct OwnTitle {
    Buffer text;
    double weight = 0;
    bool named = false;     // by an identifier or a number
    bool compound = false;  // part of an identifier is among them: google-chrome, chrome
    bool asks = false;      // the title does

    OwnTitle(const Form& form, std::span<const Token> title, std::span<const Token> other, bool han) {
        const auto is_latin = [&](std::size_t i) { return han && i < title.size() && title[i].flags & LATIN; };
        for (std::size_t i = 0; i < title.size(); i++) {
            const Token& token = title[i];
            asks |= (token.flags & ASKS) != 0;
            if (!has_content(token) || token.kind == Kind::image || token.kind == Kind::symbol ||
                std::ranges::find(other, token.key, &Token::key) != other.end())
                continue;
            append(text, form.text(token));
            weight += token.weight;
            const bool names = is_latin(i) || token.kind == Kind::number;
            named |= names;
            compound |= (is_latin(i) && is_latin(i + 1)) || (names && is_latin(i - 1));
        }
    }
};

// Whether one title is the other but for a name, or its own words recur in its text and not in the other text.
bool names_subject(const Form& form, std::span<const Token> title, const Form& other, std::span<const Token> other_title) {
    const Points name = form.text(title), reference = other.text(other_title);
    const Points behind = form.text(asked(form)).subspan(name.size()), whole = other.text(asked(other));
    const auto recurs = [&](Points word) {
        const auto in = [&](Points text) { return !std::ranges::search(text, word).empty(); };
        return word.size() > 1 && in(behind) && !in(whole);
    };
    const auto [begin, end] = frame(name, reference);
    if (2 * (begin + end) >= std::max(name.size(), reference.size())) return true;
    return recurs(name.subspan(begin, name.size() - end - begin)) ||
           std::ranges::any_of(title, [&](const Token& token) { return has_content(token) && recurs(form.text(token)); });
}

constexpr std::uint64_t PRIME = 0x9E3779B185EBCA87;

// The keys of tokens that may change the meaning; `buffer` holds them.
Keys keys_of(std::span<const Token> tokens, std::vector<std::uint64_t>& buffer) {
    if (buffer.size() < tokens.size()) buffer.resize(tokens.size());
    std::size_t count = 0;
    for (const Token& token : tokens) {
        buffer[count] = token.key;
        count += has_content(token) | ((token.flags & GRAMMAR) != 0);
    }
    return Keys(buffer).first(count);
}

std::uint64_t hash(Keys keys) { return XXH3_64bits(keys.data(), keys.size_bytes()); }

// Adds the distinct words.
void add_words(const Form& form, Profile& to) {
    std::vector<Word>& words = to.words;
    for (const Token& token : asked(form)) {
        if (has_content(token)) words.push_back({token.key, token.weight, 1, token.kind == Kind::image});
    }
    std::ranges::sort(words, {}, &Word::key);
    std::size_t size = 0;
    for (const Word& word : words) {
        Word& last = words[size - (size > 0)];
        if (size == 0 || last.key != word.key) {
            words[size++] = word;
            continue;
        }
        last.weight = std::max(last.weight, word.weight);
        last.count++;
        last.image &= word.image;
    }
    words.resize(size);
    for (const Word& word : words) to.words_weight += word.weight;
}

}  // namespace

void write_plainly(Points text, const FormTables& tables, Buffer& to) {
    if (const Points whole = tables.spelling(text).text; !whole.empty()) return append(to, whole);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t plain = std::find_if(text.begin() + at, text.end(), begins_number) - text.begin();
        append(to, text.subspan(at, plain - at));
        if ((at = plain) == text.size()) return;
        at = is_digit(text[at]) ? write_digits(text, at, to) : write_numeral(text, at, to);
        if (is_digit(to.back())) at = write_unit(text, at, tables, to);
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

Profile ProfileBuilder::build(const Form& form) {
    Profile profile;
    add_choices(form, profile);
    const auto stem = form.of(form.stem);
    find_clauses(form, form.stem, keys_, profile.clauses);
    text_.clear();
    write_plainly(form.text(stem), tables_, text_);
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
    for (const Token& token : asked(form)) {
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
    add_words(form, profile);
    for (const std::uint32_t point : content(form, stem)) counts_[key_of(point)].value++;
    profile.letters = letters();
    return profile;
}

// Numbers of each token by itself: 40, 200 is not 40200.
void ProfileBuilder::add_numbers(const Form& form, Range part, std::vector<std::uint64_t>& to) {
    text_.clear();
    for (const Token& token : form.of(part)) {
        write_plainly(form.text(token), tables_, text_);
        text_.push_back(U' ');
    }
    find_numbers(text_, to);
}

// The text of tokens with a meaning; valid until the next call.
Points ProfileBuilder::content(const Form& form, std::span<const Token> tokens) {
    content_.clear();
    for (const Token& token : tokens) {
        if (has_content(token)) append(content_, form.text(token));
    }
    return content_;
}

// Leaves their letters counted.
void ProfileBuilder::add_choices(const Form& form, Profile& to) {
    counts_.reset(form.points.size());
    for (const Range range : form.choices) {
        const auto tokens = form.of(range);
        const Points text = content(form, tokens);
        for (const std::uint32_t point : text) counts_[key_of(point)].value++;
        write_plainly(text, tables_, to.choices);
        to.ends.push_back(to.choices.size());
        to.keys.push_back(hash(keys_of(tokens, keys_)));
    }
    to.choice_letters = letters();
}

Letters ProfileBuilder::letters() const {
    Letters letters;
    counts_.each([&](std::uint64_t key, std::uint32_t count) {
        letters.distinct.push_back({key, count});
        letters.size += count;
    });
    return letters;
}

void find_clauses(const Form& form, Range part, std::vector<std::uint64_t>& keys, std::vector<Clause>& found) {
    found.clear();
    if (part.size()) found.reserve(form.tokens[part.end - 1].clause - form.tokens[part.begin].clause + 1);
    for (std::uint32_t at = part.begin; at < part.end;) {
        const std::uint32_t begin = at;
        while (at < part.end && form.tokens[at].clause == form.tokens[begin].clause) at++;
        const Keys own = keys_of(form.of({begin, at}), keys);
        found.push_back({{begin, at}, (hash(own) & ~std::uint64_t{1}) | (own.size() >= 2)});
    }
}

SharedWeight shared_weight(const Form& a, const Form& b) {
    SharedWeight sum{0, a.profile->words_weight, b.profile->words_weight};
    each_word(a, b, [&](const Word& word, const Word* counterpart) {  // exact in any order: the weights are floats
        if (counterpart) sum.both += std::min(word.weight, counterpart->weight);
    });
    return sum;
}

bool measure_own(const Form& a, const Form& b, Keys alike, Comparison& to) {
    auto& f = to.features;
    const auto put = [&](std::size_t least, std::size_t most, double x, double y) {
        std::tie(f[least], f[most]) = std::minmax(x, y);
    };
    const auto [both, left, right] = shared_weight(a, b);
    const bool is_article = to.kind == TextKind::article;
    const OwnWords x(a, b, alike, is_article), y(b, a, alike, is_article);
    put("own_least"_f, "own_most"_f, x.weight / std::max(left, 1.0), y.weight / std::max(right, 1.0));
    put("named_least"_f, "named_most"_f, x.named, y.named);
    f["held"_f] = both / std::max(std::min(left, right), 1.0);
    if (to.kind == TextKind::question) return false;
    double changed[2] = {0, 0};
    for (const Difference& one : to.differences.differences) {
        if (one.moved || one.choice) continue;
        for (const std::uint32_t at : one.left.of(to.differences.left)) changed[0] += a.tokens[at].weight;
        for (const std::uint32_t at : one.right.of(to.differences.right)) changed[1] += b.tokens[at].weight;
    }
    put("clauses_least"_f, "clauses_most"_f, 1 - changed[0] / std::max(a.profile->weight, 1.0),
        1 - changed[1] / std::max(b.profile->weight, 1.0));
    return x.has_number && y.has_number;
}

// The first lines name the subjects of two articles; if these are equal, as NAME of a manual is, the second ones may. A
// question is no name, nor is the same in other words.
std::uint32_t compare_titles(const Form& a, const Form& b, Subsequence& subsequence, Features& f) {
    if (std::min(a.layout.lines, b.layout.lines) < 2) return 0;
    const bool han = a.profile->han > 0 && b.profile->han > 0;
    const bool rules = a.layout.provisions || b.layout.provisions;
    for (const std::size_t line : {0, 1}) {
        const auto x = a.of(a.layout.first[line]), y = b.of(b.layout.first[line]);
        if (std::max(a.text(x).size(), b.text(y).size()) > LONGEST_TITLE) return 0;
        const OwnTitle left(a, x, y, han), right(b, y, x, han);
        const double weight = std::max(left.weight, right.weight);
        if (line == 0) f["title_most"_f] = weight;
        if (left.text.empty() && right.text.empty()) continue;
        bool differ = line == 0 && (left.compound || right.compound || (rules && weight >= LEAST_CHANGE));
        const auto [shorter, longer] = std::minmax({left.text.size(), right.text.size()});
        if (shorter && !(left.asks && right.asks)) {
            const std::size_t common = subsequence.length(left.text, right.text);
            const bool is_alike = 5 * common >= 3 * longer || common == shorter;
            differ |= (left.named && right.named) ||
                      (line == 0 && !is_alike && (names_subject(a, x, b, y) || names_subject(b, y, a, x)));
        }
        return differ ? "title"_g : 0;
    }
    return 0;
}

bool is_stated(const Form& form, std::span<const std::uint32_t> numbers) {
    return std::ranges::any_of(numbers, [&](std::uint32_t at) {
        const Token& token = form.tokens[at];
        const bool names = token.kind == Kind::number || token.flags & LATIN;
        return names && is_in_sentence(form.tokens, at, form.profile->han > 0);
    });
}

bool changes_rule(const Form& a, const Form& b, const Alignment& found, const Difference& one, const Change& change) {
    if (!a.layout.provisions || !b.layout.provisions || change.alike || change.most() < LEAST_CHANGE) return false;
    const auto is_in_rule = [](const Form& form, std::span<const std::uint32_t> numbers) {
        return !numbers.empty() && numbers.back() >= form.stem.begin + form.layout.preamble;
    };
    return is_in_rule(a, one.left.of(found.left)) || is_in_rule(b, one.right.of(found.right));
}

}  // namespace dedup::judgment
