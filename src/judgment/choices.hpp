// The choices of a question: what stands behind A. B. C., or behind 1. 2. 3. 4. where it is short.
#pragma once
#include <array>

#include "judgment/form_tables.hpp"

namespace dedup::judgment {

class ChoiceFinder {
public:
    // Ranges of the choices in a text, valid until the next call; the stem ends at `stem`.
    std::span<const Range> find(const Reader& text) {
        find_labels(text);
        choose_run();
        const bool bare = std::any_of(best_.begin(), best_.end(), [](const Label& one) { return one.bare; });
        if (best_.size() < 3 && bare) best_.clear();
        choices_.clear();
        if (best_.empty()) {
            find_figures(text);
            choose_run();
            set_choices(text.size());
            const bool is_long = std::any_of(choices_.begin(), choices_.end(), [](Range one) { return one.end > one.begin + 40; });
            if (best_.size() < 4 || is_long) choices_.clear();
        } else {
            set_choices(text.size());
        }
        stem = choices_.empty() ? text.size() : best_[0].start;
        return choices_;
    }

    std::size_t stem = 0;

private:
    struct Label {
        std::uint32_t start;
        std::uint32_t end;
        std::uint8_t name;  // 0 is A
        bool bare;
    };
    static constexpr std::uint32_t NAMES = 8, NONE = 0xFFFFFFFF;

    void add(std::uint32_t name, std::size_t start, std::size_t end, bool bare = false) {
        labels_.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end), static_cast<std::uint8_t>(name), bare});
    }

    void set_choices(std::size_t stop) {
        for (std::size_t k = 0; k < best_.size(); k++) {
            const std::uint32_t end = k + 1 < best_.size() ? best_[k + 1].start : static_cast<std::uint32_t>(stop);
            choices_.push_back({best_[k].end, end});
        }
    }

    // The longest run of labels, each the next of its name, from the first name; the last of equal ones.
    void choose_run() {
        struct Run {
            std::uint32_t label = NONE;
            std::uint32_t length = 0;
        };
        std::array<Run, NAMES + 1> runs{};  // by the name they begin with, of the labels from here on
        next_.resize(labels_.size());
        Run best{NONE, 1};
        for (std::size_t i = labels_.size(); i-- > 0;) {
            const std::uint8_t name = labels_[i].name;
            next_[i] = runs[name + 1].label;
            runs[name] = {static_cast<std::uint32_t>(i), runs[name + 1].length + 1};
            if (name == 0 && runs[0].length > best.length) best = runs[0];
        }
        best_.clear();
        for (std::uint32_t i = best.label; i != NONE; i = next_[i]) best_.push_back(labels_[i]);
    }

    void find_labels(const Reader& text) {
        labels_.clear();
        for (std::size_t i = 0; i < text.size();) {
            const std::size_t end = label_at(text, i);
            i = std::max(end, i + 1);
        }
    }

    // A. or (A) or A), and A alone at the start of a line; not the first of A.B. Returns its end or 0.
    std::size_t label_at(const Reader& text, std::size_t i) {
        if (text.is(i, Class::space)) return 0;
        const bool is_first = i == 0 || text.at(i - 1) == U'\n';
        if (!(is_first || text.is(i - 1, Class::space) || text.is_in(i - 1, U";。?!.,)]_、:$") || text.is(i - 1, Class::han)))
            return 0;
        const std::size_t j = text.is_in(i, U"([") ? text.skip(i + 1) : i;
        const std::uint32_t name = text.at(j) - U'a';
        if (name >= NAMES) return 0;
        if (const std::size_t end = text.after_label(j + 1, U".、:)]")) {
            const bool abbreviated = text.is_latin(end) && text.at(text.skip(end + 1)) == U'.';
            if (!abbreviated) add(name, i, end);
            return abbreviated ? 0 : end;
        }
        if (!is_first || j != i || !text.is(i + 1, Class::space) || text.skip(i + 1) >= text.size()) return 0;
        add(name, i, i + 1, true);
        return i + 1;
    }

    // 1. or 1、 or 1) at the start of a line.
    void find_figures(const Reader& text) {
        labels_.clear();
        for (std::size_t i = 0; i < text.size();) {
            i = text.skip(i);
            if (text.at(i) - U'1' < NAMES && text.is_in(i + 1, U".、)")) add(text.at(i) - U'1', i, i + 2);
            while (i < text.size() && text.at(i) != U'\n') i++;
        }
    }

    std::vector<Label> labels_;
    std::vector<std::uint32_t> next_;
    std::vector<Label> best_;
    std::vector<Range> choices_;
};

}  // namespace dedup::judgment
