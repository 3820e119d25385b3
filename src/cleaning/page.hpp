// A page that is read: its text, its open elements, and the text with marks that it becomes.
#pragma once
#include "cleaning/references.hpp"
#include "cleaning/tags.hpp"

namespace dedup::cleaning {

// Millions may be open, so places take 32 bits: no text has more characters.
struct OpenElement {
    using Place = std::int32_t;

    int number = NONE;  // NONE for a row of a table that no tag opened
    int previous = 0;   // the open one of that name before it
    Action action = Action::none;
    std::uint32_t spans_open = 0, spans_around = 0;
    Place place = 0;   // where its text begins
    Place cut = NONE;  // to where a closing tag takes back what came since, NONE for nothing
    Place origin = 0;  // where its tag begins
    std::uint32_t separator = 0;  // of its children, 0 for none
    int count = 0;                // its children, or the number of the next item
    bool hidden = false;          // whether nobody sees what stands in it
    // What its action needs: whether an annotation is TeX, a medium has its address, an item has a marker, it
    // is the box of a formula; a list's markers; the end of a fence; where the second child begins.
    Place extra = 0;
    // The nearest open element of each of these kinds, itself included, 0 without one.
    int list = 0, item = 0, table = 0, row = 0, cell = 0, math = 0, box = 0, medium = 0, code = 0, drawing = 0;
    int barrier = 0, hard_barrier = 0;  // what closing tags do not reach beyond
};

class Page {
public:
    Page(const Characters& characters, const Vocabulary& vocabulary)
        : characters(characters),
          vocabulary(vocabulary),
          references(characters, vocabulary),
          scanner(characters, vocabulary),
          attributes(characters, vocabulary),
          nearest(vocabulary.elements()) {}

    // Begins a text; tells whether CDATA marks were dropped from it.
    bool begin(Points raw) {
        out = Writer(room);
        stack.assign(1, OpenElement());
        formula_end = box_start = box_end = NONE;
        is_heavy = has_hidden = false;
        return scanner.take_without_marks(raw);
    }

    Points text() const { return scanner.text(); }
    int top() const { return static_cast<int>(stack.size()) - 1; }  // of the stack; 0 is the text itself
    Action action_of(int number) const { return vocabulary.element(number).action; }

    unsigned copy(Points from, unsigned how) { return references.copy(from, how, out); }

    // The value of an attribute, as a parser reads it; overwritten by the next one.
    Points decoded(Attribute name) {
        const Points value = attributes[name];
        if (value_.size() < value.size()) value_.resize(value.size());
        Writer to(value_);
        references.copy(value, DECODES | PARSES, to);
        return to.from(0);
    }

    // Whether there is an image, a blank or a character that is no white space.
    bool is_nonblank(Points written) const {
        return std::any_of(written.begin(), written.end(), [&](std::uint32_t point) {
            return point >= BEYOND ? point == BLANK || is_medium(point) : !characters.is(point, SPACE);
        });
    }

    // Lets open elements write nothing at their ends: what they wrote is taken back.
    void silence(int first, int stop) {
        for (int k = first; k < stop; k++) {
            OpenElement& entry = stack[k];
            entry.spans_open = 0;
            entry.extra = 0;
            entry.action = entry.action >= Action::fraction ? Action::group : Action::none;
            entry.cut = NONE;
        }
    }

    const Characters& characters;
    const Vocabulary& vocabulary;
    References references;
    TagScanner scanner;
    Attributes attributes;  // of the tag that is read
    std::span<std::uint32_t> room;           // that is written to, for each text set before
    Writer out;
    std::vector<OpenElement> stack;          // the first is the text itself
    std::vector<int> nearest;                // by element: the open one nearest to the top, 0 without one
    Place start = 0, stop = 0;               // of the tag that is read
    Place formula_end = NONE;                // where the last formula ended
    Place box_start = NONE, box_end = NONE;  // where the last box of one began and ended
    bool is_heavy = false;                   // whether anything is bold or italic
    bool has_hidden = false;                 // whether anything was taken back since nobody sees it
    bool hides = true;                       // whether what nobody sees goes

private:
    std::vector<std::uint32_t> value_;
};

}  // namespace dedup::cleaning
