#include "judgment/judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <ranges>

#include "core/system.hpp"
#include "core/text.hpp"

namespace dedup::judgment {
namespace {

using Grams = HashTable<bool>;

// The distinct 3-grams of a text; one of one or two characters is its only gram. Three code points make 63 bits: no
// hash, no collision, and none is 0.
void find_grams(Points text, Grams& grams) {
    constexpr unsigned POINT_BITS = 21;
    constexpr std::uint64_t GRAM = (std::uint64_t{1} << 3 * POINT_BITS) - 1;
    std::uint64_t gram = 0;
    std::size_t length = 0;
    grams.reset(text.size());
    for (const std::uint32_t point : text) {
        if (is_white_space(point)) continue;
        gram = (gram << POINT_BITS | (point + 1)) & GRAM;
        if (++length >= 3) grams[gram].value = true;
    }
    if (length == 1 || length == 2) grams[gram].value = true;
}

// The grams that both have, of those that either has; 1 of two texts without any.
double jaccard(const Grams& a, const Grams& b) {
    const Grams &few = a.size() < b.size() ? a : b, &many = a.size() < b.size() ? b : a;
    std::size_t common = 0;
    few.each([&](std::uint64_t gram, bool) { common += many.find(gram); });
    const std::size_t either = a.size() + b.size() - common;
    return either ? static_cast<double>(common) / static_cast<double>(either) : 1;
}

bool is_explained(const Form& form) { return form.text(form.of(form.explanation)).size() >= 10; }

std::uint32_t count_images(const Form& form) {
    return static_cast<std::uint32_t>(std::ranges::count(form.tokens, Kind::image, &Token::kind));
}

// What the first text has more, as bits by the places of RICHER.
std::uint8_t richer(const Form& one, const Form& other, const Alignment& found) {
    const auto adds = [&](const Difference& difference) {
        const auto says = [&](std::uint32_t at) { return has_content(one.tokens[at]); };
        return difference.clauses && !difference.moved && !difference.right.size() &&
               std::ranges::any_of(difference.left.of(found.left), says);
    };
    const bool more[] = {count_images(one) > count_images(other), one.answer.size() && !other.answer.size(),
                         is_explained(one) && !is_explained(other), one.choices.size() > other.choices.size(),
                         std::ranges::any_of(found.differences, adds)};
    static_assert(std::size(more) == std::size(RICHER));
    std::uint8_t bits = 0;
    for (std::size_t i = 0; i < std::size(more); i++) bits |= more[i] << i;
    return bits;
}

std::uint8_t percentage_of(double left_out) {
    return static_cast<std::uint8_t>(left_out > 0 ? std::max(std::lround(left_out), 1L) : 0);
}

// Tokens as a person reads them: with spaces between words in Latin letters.
Buffer written(const Form& form, const auto& places) {
    Buffer points;
    bool spaced = false;
    for (const std::uint32_t place : places) {
        const Token& token = form.tokens[place];
        const bool plain = (token.flags & LATIN) || token.kind == Kind::number;
        if (plain && spaced) points.push_back(U' ');
        append(points, form.text(token));
        spaced = plain;
    }
    return points;
}

DifferenceKind kind_of(bool moved, bool null, const Buffer& text, const Buffer& other) {
    if (moved) return DifferenceKind::moved;
    if (null) return DifferenceKind::notation;
    if (!text.empty() && !other.empty()) return DifferenceKind::replaced;
    return text.empty() ? DifferenceKind::deleted : DifferenceKind::inserted;
}

std::vector<NamedDifference> name_differences(const Relations& relations, const Form& a, const Form& b, const Alignment& found, Scratch& scratch) {
    std::vector<NamedDifference> named;
    Work work;
    const auto add = [&](Part part, bool moved, bool null, Buffer text, Buffer other) {
        named.push_back({kind_of(moved, null, text, other), part, std::move(text), std::move(other)});
    };
    for (const Difference& each : found.differences) {
        const bool null = !each.moved && look_at(relations, a, b, found, each, {0, 0}, work, scratch.differ).null;
        add(each.choice ? Part::choice : Part::stem, each.moved, null, written(a, each.left.of(found.left)),
            written(b, each.right.of(found.right)));
    }
    const auto add_whole = [&](Part part, Range left, Range right) {
        if (std::ranges::equal(a.of(left), b.of(right), {}, &Token::key, &Token::key)) return;
        const auto places = [](Range range) { return std::views::iota(range.begin, range.end); };
        add(part, false, false, written(a, places(left)), written(b, places(right)));
    };
    add_whole(Part::answer, a.answer, b.answer);
    add_whole(Part::notes, a.notes, b.notes);
    add_whole(Part::explanation, a.explanation, b.explanation);
    return named;
}

Buffer decoded(std::span<const std::uint8_t> utf8) {
    Buffer points(utf8.size() + ASCII_BLOCK);
    points.resize(static_cast<std::size_t>(decode_utf8(utf8, points.data())));
    return points;
}

// The texts of some pairs, each once, in an order that all threads lock them in.
std::vector<ReadTexts*> texts_of(std::span<const Pair> pairs) {
    std::vector<ReadTexts*> found;
    for (const auto& [text, other] : pairs) {
        for (ReadTexts* const one : {text.texts, other.texts}) {
            if (found.empty() || std::ranges::find(found, one) == found.end()) found.push_back(one);
        }
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace

// Calls take(i, left, right, comparison, scratch) for each pair, in several threads.
template <class Take>
void Judge::compare(std::span<const Pair> pairs, std::size_t threads, std::uint32_t stop, Take take) const {
    const std::vector<ReadTexts*> texts = texts_of(pairs);
    std::vector<std::unique_lock<std::mutex>> locks;
    for (const ReadTexts* one : texts) locks.emplace_back(one->in_use());
    for (std::size_t begin = 0, end; begin < pairs.size(); begin = end) {
        std::size_t size = 0;  // as many as memory has room for
        for (end = begin; end < pairs.size() && size < ReadTexts::MOST_POINTS; end++) {
            const auto& [text, other] = pairs[end];
            const bool again = end > begin && text.texts == pairs[end - 1].text.texts && text.row == pairs[end - 1].text.row;
            size += other.texts->points(other.row) + (again ? 0 : text.texts->points(text.row));
        }
        const auto part = pairs.subspan(begin, end - begin);
        for (ReadTexts* const one : texts) {
            std::vector<std::size_t> rows;
            for (const auto& [text, other] : part) {
                if (text.texts == one) rows.push_back(text.row);
                if (other.texts == one) rows.push_back(other.row);
            }
            one->make_room();
            one->make_forms(tables_, relations_, std::move(rows), threads);
        }
        share(part.size(), threads, [&](auto next) {
            Scratch scratch;
            for (std::size_t i; (i = next()) < part.size();) {
                const auto& [text, other] = part[i];
                const Form a = text.texts->form(text.row), b = other.texts->form(other.row);
                take(begin + i, a, b, compare_forms(relations_, options_.kind, a, b, stop, scratch), scratch);
            }
        });
    }
}

double Judge::probability(const Comparison& found) const {
    const double most = found.left_out > 0 || found.reworded ? 0.999 : 1;  // never sure of what is not compared
    if (found.little) return 0;
    const Model& model = models_[static_cast<std::size_t>(found.kind)];
    return found.same ? most : std::min(most, model.probability(model.score(found.features)));
}

void Judge::judge(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const {
    const auto decide = [&](std::size_t i, double similarity, double required) {
        verdicts[i] = {.similarity = similarity, .required = required, .state = similarity >= required ? State::joined : State::refused, .apart = SIMILARITY};
    };
    const auto take = [&](std::size_t i, const Form& a, const Form& b, const Comparison& found, Scratch&) {
        Verdict& verdict = verdicts[i] = {};
        const std::uint32_t guards = found.guards & options_.heeded;
        if (found.whole) verdict.probability = probability(found);
        const bool joined = !guards && verdict.probability >= options_.confidence;
        verdict.state = joined ? State::joined : State::refused;
        verdict.apart = guards ? static_cast<std::uint8_t>(std::countr_zero(guards)) : UNLIKELY;
        verdict.richer = richer(a, b, found.differences);
        verdict.left_out = percentage_of(found.left_out);
    };
    switch (options_.judging) {
        case Judging::differences: return compare(pairs, threads, options_.heeded, take);
        case Judging::similarity: return measure_all(pairs, threads, decide);
        case Judging::none:
            for (std::size_t i = 0; i < pairs.size(); i++) decide(i, 1, 0);
    }
}

// Calls take(i, similarity, the least of a duplicate) for each pair, in several threads.
template <class Take>
void Judge::measure_all(std::span<const Pair> pairs, std::size_t threads, Take take) const {
    share(pairs.size(), threads, [&](auto next) {
        Buffer room;
        std::size_t size = 0;
        Grams grams, other_grams;
        TextRef last{};
        const auto read = [&](TextRef ref, Buffer& room, Grams& into) {
            write_canonical((*ref.texts)[ref.row], room);
            find_grams(room, into);
            return room.size();
        };
        for (std::size_t i; (i = next()) < pairs.size();) {
            const auto [left, right] = pairs[i];
            if (left.texts != last.texts || left.row != last.row) size = read(last = left, room, grams);
            const std::size_t longer = std::max(size, read(right, room, other_grams));
            take(i, jaccard(grams, other_grams), required_similarity(options_.similarity, longer));
        }
    });
}

void Judge::measure(std::span<const Pair> pairs, std::size_t threads, std::span<Verdict> verdicts) const {
    measure_all(pairs, threads, [&](std::size_t i, double similarity, double required) {
        verdicts[i].similarity = similarity;
        verdicts[i].required = options_.judging == Judging::none ? 0 : required;
    });
}

std::vector<std::vector<NamedDifference>> Judge::differences(std::span<const Pair> pairs, std::size_t threads,
                                                             std::span<PairFeatures> features) const {
    std::vector<std::vector<NamedDifference>> named(pairs.size());
    compare(pairs, threads, 0, [&](std::size_t i, const Form& a, const Form& b, const Comparison& found, Scratch& scratch) {
        const auto& [text, other] = pairs[i];
        const auto one = text.texts->text(text.row), its = other.texts->text(other.row);
        if (!features.empty()) features[i] = {found.features, found.guards, found.same, found.kind, probability(found)};
        named[i] = name_differences(relations_, a, b, found.differences, scratch);
        if (named[i].empty() && !std::ranges::equal(one, its))
            named[i].push_back({DifferenceKind::layout, Part::stem, decoded(one), decoded(its)});
    });
    return named;
}

std::vector<Richness> Judge::richness(const ReadTexts& texts) const {
    std::vector<Richness> found;
    each_form(texts, tables_, [&](const Form& form) {
        const auto choices = static_cast<std::uint32_t>(form.choices.size());
        found.push_back({count_images(form), choices, form.answer.size() != 0, is_explained(form)});
    });
    return found;
}

}  // namespace dedup::judgment
