// Numerals and units in plain notation.
#include "judgment/relations.hpp"

#include <array>
#include <string>

namespace dedup::judgment {
namespace {

constexpr std::uint32_t HUNDRED = U'百', PART = U'分', OF = U'之';
constexpr std::uint64_t LARGEST = 1'000'000'000'000'000;

// A Chinese numeral: a digit, or 十 and its like, which stand for a scale.
struct Numeral {
    std::uint32_t point = 0;
    int digit = -1;
    std::uint64_t scale = 0;
};

// Each in a place of its own, so that one look tells whether a character is one.
constexpr std::size_t PLACES = 32;
constexpr std::size_t place_of(std::uint32_t point) { return (9 * point ^ point >> 7) % PLACES; }
constexpr std::array<Numeral, PLACES> NUMERALS = [] {
    std::array<Numeral, PLACES> numerals{};
    const auto add = [&](Numeral one) { numerals[place_of(one.point)] = one; };
    int digit = 0;
    for (const char32_t c : std::u32string_view(U"零一二三四五六七八九")) add({c, digit++});
    add({U'〇', 0});
    add({U'两', 2});
    add({U'十', -1, 10});
    add({HUNDRED, -1, 100});
    add({U'千', -1, 1000});
    add({U'万', -1, 10'000});
    add({U'亿', -1, 100'000'000});
    return numerals;
}();

static_assert(std::ranges::count_if(NUMERALS, &Numeral::point) == 17);

Numeral numeral_of(std::uint32_t point) {
    const Numeral& found = NUMERALS[place_of(point)];
    return found.point == point ? found : Numeral{};
}
bool is_numeral(std::uint32_t point) { return numeral_of(point).point != 0; }

constexpr bool is_digit(std::uint32_t point) { return '0' <= point && point <= '9'; }

// A bit for each character of the basic plane, whether a number begins with it: every character is asked.
constexpr std::array<std::uint64_t, PLANE / 64> BEGINNINGS = [] {
    std::array<std::uint64_t, PLANE / 64> bits{};
    const auto add = [&](std::uint32_t point) { bits[point / 64] |= std::uint64_t{1} << point % 64; };
    for (const Numeral& one : NUMERALS) add(one.point ? one.point : '0');
    for (std::uint32_t digit = '0'; digit <= '9'; digit++) add(digit);
    return bits;
}();

int digit_of(std::uint32_t point) { return numeral_of(point).digit; }  // -1 for others
std::uint64_t scale_of(std::uint32_t point) { return numeral_of(point).scale; }  // 0 for others

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
    const bool hundred = run.size() == 1 && run[0] == HUNDRED;
    const bool fraction = next < text.size() && text[end] == PART && text[end + 1] == OF;
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

bool begins_number(std::uint32_t point) { return point < PLANE && BEGINNINGS[point / 64] >> point % 64 & 1; }

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

}  // namespace dedup::judgment
