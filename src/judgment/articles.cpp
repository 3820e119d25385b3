// What each of two texts has of its own, and what keeps two articles apart.
#include <cmath>
#include <tuple>

#include "judgment/features.hpp"

namespace dedup::judgment {
namespace {

constexpr double FEW = 2;                    // places that differ
constexpr std::size_t LONGEST_TITLE = 60;    // characters
constexpr double LEAST_CHANGE = 5;           // weight: less is a light word

// Whether a number stands in a clause with two words, Chinese ones in a Chinese text: what stands alone is a date, a
// counter or an address of the page.
bool is_in_sentence(std::span<const Token> tokens, std::size_t number, bool han) {
    const auto in_clause = [&](std::size_t i) { return i < tokens.size() && tokens[i].clause == tokens[number].clause; };
    std::size_t words = 0, i = number;
    while (i > 0 && in_clause(i - 1)) i--;
    for (; in_clause(i); i++) words += tokens[i].kind == Kind::word && !(han && tokens[i].flags & LATIN);
    return words >= 2;
}

// The weight of what a side of the differences says.
double weight_of_side(const Form& form, const Alignment& found, Range Difference::* side,
                      const std::vector<std::uint32_t>& places) {
    double weight = 0;
    for (const Difference& one : found.differences) {
        if (one.moved || one.choice) continue;
        for (const std::uint32_t at : (one.*side).of(places)) weight += form.tokens[at].weight;
    }
    return weight;
}

// What a title says and the other one does not. In a Chinese text, words in Latin letters are identifiers.
struct OwnTitle {
    Buffer text;
    double weight = 0;
    bool named = false;     // by an identifier or a number
    bool compound = false;  // part of an identifier is of it: google-chrome, chrome
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
            named |= is_latin(i) || token.kind == Kind::number;
            compound |= (is_latin(i) && is_latin(i + 1)) || ((is_latin(i) || token.kind == Kind::number) && is_latin(i - 1));
        }
    }
};

// Whether one title is the other but for a name, or says what stands in its text again, and nowhere in the other text.
bool names_subject(
    const Form& form, std::span<const Token> title, const Form& other, std::span<const Token> other_title) {
    const Points name = form.text(title), others = other.text(other_title);
    const Points behind = form.text(asked(form)).subspan(name.size()), whole = other.text(asked(other));
    const auto recurs = [&](Points word) {
        const auto in = [&](Points text) { return !std::ranges::search(text, word).empty(); };
        return word.size() > 1 && in(behind) && !in(whole);
    };
    const auto [begin, end] = frame(name, others);
    if (2 * (begin + end) >= std::max(name.size(), others.size())) return true;
    return recurs(name.subspan(begin, name.size() - end - begin)) ||
           std::ranges::any_of(title, [&](const Token& token) { return has_content(token) && recurs(form.text(token)); });
}

}  // namespace

const SharedWords::Totals& SharedWords::find(const Form& a, const Form& b) {
    if (found_) return totals_;
    const auto x = asked(a), y = asked(b);
    found_ = true;
    totals_ = {};
    places_.reset(x.size() + y.size());
    weights_.assign(1, {});
    const auto raise = [](double& weight, double to, double& sum) {  // exact in any order: the weights are floats
        if (weight >= to) return;
        sum += to - std::max(weight, 0.0);
        weight = to;
    };
    words_.assign(x.size() + y.size(), 0);
    auto place = words_.begin();
    const auto enter = [&](std::span<const Token> tokens, double Weights::* here, double& sum) {
        for (const Token& token : tokens) {
            std::uint32_t& held = *place++;
            if (!has_content(token)) continue;
            Weights& word = weights_[held = place_of(token.key)];
            const double before = word.both();
            raise(word.*here, token.weight, sum);
            word.count++;
            totals_.both += word.both() - before;
        }
    };
    enter(x, &Weights::left, totals_.left);
    enter(y, &Weights::right, totals_.right);
    return totals_;
}

std::uint32_t SharedWords::place_of(std::uint64_t key) {
    const auto [place, is_new] = places_[key_of(key)];
    if (is_new) {
        place = static_cast<std::uint32_t>(weights_.size());
        weights_.emplace_back();
    }
    return place;
}

SharedWords::Own SharedWords::own(const Form& form, std::size_t first, double Weights::* here, double Weights::* there,
                                  bool numbers) {
    Own found;
    const auto tokens = asked(form);
    for (std::size_t i = 0; i < tokens.size(); i++) {
        const Token& token = tokens[i];
        Weights& word = weights_[words_[first + i]];
        if (words_[first + i] == 0 || word.*there >= 0 || token.kind == Kind::image) continue;
        if (word.count) {
            found.weight += word.*here;
            found.named = std::max(found.named, word.*here * std::log1p(word.count));
            word.count = 0;
        }
        found.has_number |= numbers && token.kind == Kind::number && is_in_sentence(tokens, i, form.profile->han > 0);
    }
    return found;
}

std::pair<SharedWords::Own, SharedWords::Own> SharedWords::own(const Form& a, const Form& b, std::span<const std::uint64_t> alike,
                                                               bool numbers) {
    for (const std::uint64_t key : alike) {
        Weights& word = weights_[place_of(key)];
        word.left = std::max(word.left, 0.0);
        word.right = std::max(word.right, 0.0);
    }
    return {own(a, 0, &Weights::left, &Weights::right, numbers),
            own(b, asked(a).size(), &Weights::right, &Weights::left, numbers)};
}

void measure_own(const Form& a, const Form& b, Scratch& s, Comparison& to) {
    auto& f = to.features;
    const auto put = [&](std::size_t least, std::size_t most, double x, double y) {
        std::tie(f[least], f[most]) = std::minmax(x, y);
    };
    const auto [both, left, right] = s.words.find(a, b);
    const auto [x, y] = s.words.own(a, b, s.stems.alike, to.kind == TextKind::article);
    put("own_least"_f, "own_most"_f, x.weight / std::max(left, 1.0), y.weight / std::max(right, 1.0));
    put("named_least"_f, "named_most"_f, x.named, y.named);
    f["held"_f] = both / std::max(std::min(left, right), 1.0);
    if (to.kind == TextKind::question) return;
    const auto& found = to.differences;
    put("clauses_least"_f, "clauses_most"_f,
        1 - weight_of_side(a, found, &Difference::left, found.left) / std::max(a.profile->weight, 1.0),
        1 - weight_of_side(b, found, &Difference::right, found.right) / std::max(b.profile->weight, 1.0));
    if (to.kind != TextKind::article) return;
    const bool few = f["pieces"_f] <= FEW;
    to.guards &= few ? OF_ARTICLES | OF_FEW : OF_ARTICLES;
    if (x.has_number && y.has_number) to.guards |= "number"_g;
    if (few) to.guards |= s.stems.said;
}

// The first lines name what two articles are about; where these are equal, as NAME of a manual is, the second ones may.
// A question is no name, nor is the same in other words.
std::uint32_t compare_titles(const Form& a, const Form& b, Scratch& s, Features& f) {
    if (std::min(a.layout.lines, b.layout.lines) < 2) return 0;
    const bool han = a.profile->han > 0 && b.profile->han > 0;
    const bool rules = a.layout.provisions || b.layout.provisions;
    std::uint32_t guards = 0;
    for (const std::size_t line : {0, 1}) {
        const auto x = a.of(a.layout.first[line]), y = b.of(b.layout.first[line]);
        if (std::max(a.text(x).size(), b.text(y).size()) > LONGEST_TITLE) return guards;
        const OwnTitle left(a, x, y, han), right(b, y, x, han);
        if (line == 0) f["title_most"_f] = std::max(left.weight, right.weight);
        if (left.text.empty() && right.text.empty()) continue;
        const bool ruled = rules && std::max(left.weight, right.weight) >= LEAST_CHANGE;
        if (line == 0 && (left.compound || right.compound || ruled)) guards |= "title"_g;
        const auto [shorter, longer] = std::minmax({left.text.size(), right.text.size()});
        if (!shorter || (left.asks && right.asks)) return guards;
        Work work;
        const std::size_t common = s.differ.subsequence.length(Points(left.text), Points(right.text), work);
        const bool is_alike = 5 * common >= 3 * longer || common == shorter;
        const bool named = !is_alike && (names_subject(a, x, b, y) || names_subject(b, y, a, x));
        if ((left.named && right.named) || (line == 0 && named)) guards |= "title"_g;
        return guards;
    }
    return guards;
}

bool is_said(const Form& form, std::span<const std::uint32_t> places) {
    return std::ranges::any_of(places, [&](std::uint32_t at) {
        const Token& token = form.tokens[at];
        const bool names = token.kind == Kind::number || token.flags & LATIN;
        return names && is_in_sentence(form.tokens, at, form.profile->han > 0);
    });
}

bool changes_rule(const Form& a, const Form& b, const Alignment& found, const Difference& one, const Change& change) {
    if (!a.layout.provisions || !b.layout.provisions || change.alike) return false;
    const auto is_in_rule = [](const Form& form, std::span<const std::uint32_t> places) {
        return !places.empty() && places.back() >= form.stem.begin + form.layout.preamble;
    };
    return change.most() >= LEAST_CHANGE && (is_in_rule(a, one.left.of(found.left)) || is_in_rule(b, one.right.of(found.right)));
}

}  // namespace dedup::judgment
