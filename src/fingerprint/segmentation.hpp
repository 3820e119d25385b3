// jieba's segmentation (`jieba.lcut`, HMM on), token for token.
//
// jieba takes runs of Han, ASCII letters, digits and +#&._%- as blocks. In a block the path of
// greatest probability through the dictionary's words is found from right to left; ties go to the
// longer word. Runs of single characters on that path go to a hidden Markov model, unless they are a
// word of the dictionary together. All other characters are tokens of their own. Float additions run
// in jieba's order, or ties would break differently.
#pragma once
#include "fingerprint/lexicon.hpp"

namespace dedup {

// A token ends where the next one starts, the last one with the text.
struct Token {
    // in place of a node of the trie, besides Trie::ABSENT, which is no word of the lists
    static constexpr std::int32_t SINGLE = -2;             // one character, not looked up
    static constexpr std::int32_t OUTSIDE = -3;            // ... outside jieba's blocks

    std::int32_t start;
    std::int32_t node;
};

class Segmenter {
public:
    explicit Segmenter(const Lexicon& lexicon) : lexicon_(lexicon) {}

    // The tokens of a text, and one more that starts at its end; valid until the next call.
    std::span<const Token> segment(Points text) {
        text_ = text;
        if (tokens_.size() < text.size() + 1) tokens_.resize(text.size() + 1);
        count_ = 0;
        const std::size_t stop = text.size();
        for (std::size_t i = 0, end; i < stop; i = end) {
            if (!in_block(text[i])) {
                emit(i, Token::OUTSIDE);
                end = i + (text[i] == '\r' && i + 1 < stop && text[i + 1] == '\n' ? 2 : 1);
                continue;
            }
            end = i + 1;
            bool no_word = text[i] < ASCII;  // ASCII, and no two characters begin a word
            bool alphanumeric = lexicon_.classes[text[i]] == Class::alphanumeric;
            while (end < stop && in_block(text[end])) {
                no_word &= text[end] < ASCII;
                alphanumeric &= lexicon_.classes[text[end]] == Class::alphanumeric;
                if (no_word && lexicon_.pairs[ASCII * text[end - 1] + text[end]]) no_word = false;
                end++;
            }
            if (!no_word)
                emit_block(i, end);
            else if (alphanumeric)  // most English and LaTeX
                emit_token(i, end);
            else
                emit_run(i, end);
        }
        emit(stop, Token::OUTSIDE);
        return {tokens_.data(), count_};
    }

private:
    // The best path from a character on: its score, and the word that it begins with.
    struct Step {
        double score;
        std::int32_t end;
        std::int32_t slot;  // of the trie
    };

    bool in_block(std::uint32_t point) const {
        if (point >= PLANE) return false;
        const Class kind = lexicon_.classes[point];
        return kind != Class::separator && kind != Class::letter;
    }

    void emit(std::size_t start, std::int32_t node) {
        tokens_[count_++] = {static_cast<std::int32_t>(start), node};
    }

    void emit_token(std::size_t start, std::size_t end) {
        emit(start, end - start > 1 ? lexicon_.find(text_.subspan(start, end - start)) : Token::SINGLE);
    }

    // Emits the words of the best path; single characters on it gather in a run.
    void emit_block(std::size_t start, std::size_t end) {
        const std::size_t size = end - start;
        find_path(text_.subspan(start, size));
        std::size_t run = 0;
        for (std::size_t at = 0;;) {
            const Step& step = path_[at];
            const std::size_t next = static_cast<std::size_t>(step.end);
            if (next - at > 1) {
                if (at - run == 1)
                    emit(start + run, Token::SINGLE);  // nearly always, so no call
                else if (run < at)
                    emit_run(start + run, start + at);
                if (at == size) return;
                const std::int32_t node = lexicon_.trie[step.slot].node;
                __builtin_prefetch(&lexicon_.words[node]);  // for its weight
                emit(start + at, node);
                run = next;
            }
            at = next;
        }
    }

    // `jieba.Tokenizer.get_DAG` and `calc` in one pass, once the first two characters of all words are
    // looked up: those look-ups wait for nothing, so the processor waits for many of them at once.
    void find_path(Points block) {
        const std::size_t size = block.size();
        if (path_.size() < size + 1) path_.resize(size + 1);
        Step* const path = path_.data();
        const Trie& trie = lexicon_.trie;
        for (std::size_t i = 0; i + 1 < size; i++) {
            const std::int32_t first = trie.first(block[i]);
            path[i].slot = first == Trie::ABSENT ? Trie::ABSENT : trie.child(first, block[i + 1]);
            __builtin_prefetch(&trie[std::max(path[i].slot, 0)]);
        }
        path[size - 1].slot = Trie::ABSENT;
        path[size] = {0.0, static_cast<std::int32_t>(size + 2), 0};  // as if a word began there: it ends a run
        for (std::size_t i = size; i-- > 0;) {
            const std::int32_t single = trie.first(block[i]);
            const std::int32_t behind = static_cast<std::int32_t>(i + 1);
            Step best{NO_WORD, behind, Token::SINGLE};
            if (single != Trie::ABSENT) best = {trie[single].probability + path[i + 1].score, behind, single};
            std::int32_t slot = path[i].slot;
            for (std::size_t next = i + 2; slot != Trie::ABSENT; next++) {
                const double score = trie[slot].probability + path[next].score;
                if (score >= best.score) best = {score, static_cast<std::int32_t>(next), slot};
                if (next == size) break;
                slot = trie.child(slot, block[next]);
            }
            if (best.score == NO_WORD) best = {lexicon_.unknown + path[i + 1].score, behind, Token::SINGLE};
            path[i] = best;
        }
    }

    // Emits the tokens of a run of single characters, as `jieba.finalseg.cut` makes them.
    [[gnu::noinline]] void emit_run(std::size_t start, std::size_t stop) {
        if (stop - start == 1 || lexicon_.holds(text_.subspan(start, stop - start))) {
            for (std::size_t i = start; i < stop; i++) emit(i, Token::SINGLE);
            return;
        }
        for (std::size_t i = start, end; i < stop; i = end) {
            const Class kind = lexicon_.classes[text_[i]];
            end = i + 1;
            while (end < stop && lexicon_.classes[text_[end]] == kind) end++;
            if (kind == Class::han && end - i > 1) {
                if (back_.size() < end - i) back_.resize(end - i);
                lexicon_.find_states(text_.subspan(i, end - i), back_);
                emit_words(i, end);
            } else {
                if (kind == Class::alphanumeric) end = end_of_number(end, stop);
                emit_token(i, end);
            }
        }
    }

    // Goes on behind letters and digits: decimals, then a percent sign.
    std::size_t end_of_number(std::size_t end, std::size_t stop) const {
        if (end + 1 < stop && text_[end] == '.' && is_digit(text_[end + 1])) {
            end += 2;
            while (end < stop && is_digit(text_[end])) end++;
        }
        return end + (end < stop && text_[end] == '%');
    }

    void emit_words(std::size_t start, std::size_t stop) {
        std::size_t begin = start;
        for (std::size_t i = start; i < stop; i++) {
            const std::int8_t state = back_[i - start][0];
            if (state == B || state == S) begin = i;
            if (state != E && state != S && i + 1 != stop) continue;
            std::int32_t node = Token::SINGLE;
            if (i + 1 - begin > 1) node = lexicon_.find(text_.subspan(begin, i + 1 - begin));
            emit(begin, node);
            begin = i + 1;
        }
    }

    const Lexicon& lexicon_;
    Points text_;
    std::vector<Token> tokens_;
    std::size_t count_ = 0;
    std::vector<Step> path_;
    std::vector<std::array<std::int8_t, STATES>> back_;
};

}  // namespace dedup
