// The choices of a question: what stands behind A. B. C., or behind 1. 2. 3. 4. where it is short; short lines behind
// a line that asks, with a mark or without; and what stands between | in a line.
#pragma once
#include "judgment/form_tables.hpp"

namespace dedup::judgment {

class ChoiceFinder {
public:
    // Ranges of the choices in a text, valid until the next call; the stem ends at `stem`. unmarked: whether those
    // without letters and numbers are looked for as well.
    std::span<const Range> find(const Searched& text, bool unmarked = false) {
        find_labels(text);
        choose_run(text.size());
        if (best_.size() < 3 && std::ranges::any_of(best_, &Label::bare)) choices_.clear();
        if (choices_.empty()) {
            find_figures(text);
            choose_run(text.size());
            const bool is_long = std::ranges::any_of(choices_, [](Range one) { return one.end > one.begin + 40; });
            if (best_.size() < 4 || is_long) choices_.clear();
        }
        if (choices_.empty() && unmarked) {
            find_lines(text);
            choose_run(text.size());
        }
        stem = choices_.empty() ? text.size() : best_[0].start;
        drop_repeated(text);
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
        labels_.push_back({std::uint32_t(start), std::uint32_t(end), std::uint8_t(name), bare});
    }

    // Takes out labels that all choices repeat: A. A苯耗下降
    void drop_repeated(const Reader& text) {
        for (std::size_t k = 0; k < choices_.size(); k++) {
            const std::size_t i = text.skip(choices_[k].begin);
            if (i + 1 >= choices_[k].end || text.at(i) != U'a' + k || !text.is(i + 1, Class::han)) return;
        }
        for (Range& choice : choices_) choice.begin = std::uint32_t(text.skip(choice.begin) + 1);
    }

    // Chooses the longest run of labels A, B, C and so on; of equally long ones the last.
    void choose_run(std::size_t size) {
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
            runs[name] = {std::uint32_t(i), runs[name + 1].length + 1};
            if (name == 0 && runs[0].length > best.length) best = runs[0];
        }
        best_.clear();
        choices_.clear();
        for (std::uint32_t i = best.label; i != NONE; i = next_[i]) {
            if (!choices_.empty()) choices_.back().end = labels_[i].start;
            best_.push_back(labels_[i]);
            choices_.push_back(range_of(labels_[i].end, size));
        }
    }

    void find_labels(const Searched& text) {
        labels_.clear();
        for (std::size_t i = 0;;) {
            i = text.find_behind(i, FormTables::BEFORE_LABEL, FormTables::LABELS);
            if (i == text.size()) return;
            i = std::max(label_at(text, i), i + 1);
        }
    }

    // A. or (A) or A), and A alone at the start of a line; not the first of A.B. or A、B、. Returns its end or 0.
    std::size_t label_at(const Reader& text, std::size_t i) {
        const bool is_first = i == 0 || text.at(i - 1) == U'\n';
        const std::size_t j = text.is_in(i, U"([") ? text.skip(i + 1) : i;
        const std::uint32_t name = text.at(j) - U'a';
        if (name >= NAMES || text.is_latin(j + 1)) return 0;
        if (const std::size_t end = text.after_label(j + 1, U".、:)]")) {
            const std::uint32_t behind = text.at(text.skip(end + 1));
            const bool is_next = behind == U'、' && text.at(end) == text.at(j) + 1;
            if (text.is_latin(end) && (behind == U'.' || is_next)) return 0;
            add(name, i, end);
            return end;
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
            i = std::find(text.text.begin() + std::min(i, text.size()), text.text.end(), U'\n') - text.text.begin();
        }
    }

    // The last lines, behind one that asks, or the parts of a single line behind |. Each is short and begins with a word.
    void find_lines(const Reader& text) {
        const bool single = std::ranges::find(text.text, U'\n') == text.text.end();
        labels_.clear();
        for (std::size_t i = text.size(), end = i; end > 0 && labels_.size() <= NAMES; end = std::max<std::size_t>(i, 1) - 1) {
            i = end;
            while (i > 0 && text.at(i - 1) != (single ? U'|' : U'\n')) i--;
            std::size_t last = end, begin = text.skip(i);
            while (last > i && text.is_in(last - 1, U" ,;。:")) last--;
            const bool asks = text.is_in(last - 1, U"?是_)") || (single && i == 0 && text.part(i, last).letters(4) == 4);
            if (asks && labels_.size() >= (single ? 2u : 3u)) {
                std::ranges::reverse(labels_);
                for (std::size_t k = 0; k < labels_.size(); k++) labels_[k].name = std::uint8_t(k);
                return;
            }
            if (text.is_in(begin, U"-*·●") || text.is(begin, Class::circled)) begin = text.skip(begin + 1);
            if (text.is_in(begin, U"甲乙丙丁戊") && text.is_in(begin + 1, U"、.")) begin = text.skip(begin + 2);
            const bool is_word = text.is(begin, Class::han) || (!text.is(begin, Class::digit) &&
                                                                text.part(begin, std::max(begin, last)).letters(4) == 4);
            if (last <= begin || last > begin + 20 || !is_word || text.is_in(begin + 1, U"、:")) break;
            add(0, i - (single && i > 0), begin);
        }
        labels_.clear();
    }

    std::vector<Label> labels_;
    std::vector<std::uint32_t> next_;
    std::vector<Label> best_;
    std::vector<Range> choices_;
};

}  // namespace dedup::judgment
