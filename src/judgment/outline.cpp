#include "judgment/outline.hpp"

namespace dedup::judgment {
namespace {

// Behind the last of these characters, 0 if there is none.
std::size_t find_last(Points text, std::uint32_t c) {
    std::size_t i = text.size();
    while (i > 0 && text[i - 1] != c) i--;
    return i;
}

// The file's name where it is one by itself, else the address without the protocol.
Points image_key(const Reader& address) {
    static constexpr std::u32string_view DATA = U"data:", NAMELESS = U"image";
    Points whole = address.text;
    if (!(whole.size() >= DATA.size() && std::equal(DATA.begin(), DATA.end(), whole.begin())))
        whole = whole.first(std::ranges::find_if(whole, [](auto c) { return c == U'?' || c == U'#'; }) - whole.begin());
    const Reader name{address.tables, whole.subspan(find_last(whole, U'/'))};
    const std::size_t dot = find_last(name.text, U'.');
    bool digit = false;
    for (std::size_t i = 0; i < name.size(); i++) digit |= name.is(i, Class::digit);
    if ((dot > 1 ? dot - 1 : name.size()) >= 8 && digit) return name.text;
    for (std::size_t i = 0; i + 2 < whole.size(); i++) {
        if (whole[i] == U'/' && whole[i + 1] == U'/') return whole.subspan(i + 2);
    }
    static const Buffer nameless(NAMELESS.begin(), NAMELESS.end());
    return whole.empty() ? Points(nameless) : whole;
}

}  // namespace

// Characters as they are compared; superscripts and subscripts as ^{...} and _{...}.
void OutlineReader::fold(Points text) {
    Buffer& to = text_.points;
    to.resize(text.size());  // there is always room for as many as are left
    std::size_t size = 0;
    std::uint32_t script = 0;
    const auto put = [&](std::uint32_t point) {
        to.push_back(0);
        to[size++] = point;
    };
    for (const std::uint32_t point : text) {
        if (!script && point < PLANE && tables_.single[point]) {
            to[size++] = tables_.single[point];
            continue;
        }
        const std::size_t place = tables_.folded_place(point);
        const std::uint32_t now = place < FormTables::FOLDED ? tables_.scripts[place] : 0;
        if (now != script) {
            if (script) put(U'}');
            if (now) {
                put(now);
                put(U'{');
            }
            script = now;
        }
        for (const std::uint32_t one : place < FormTables::FOLDED ? tables_.folded[place] : Points(&point, 1)) put(one);
    }
    if (script) put(U'}');
    to.resize(size);
}

void OutlineReader::read(Points text) {
    fold(text);
    Buffer& notes = notes_.points;
    notes.clear();
    const Searched whole = take_brackets(text_.reader(tables_), rest_, notes);
    const std::size_t taken = notes.size();
    const Searched rest = take_sentences(whole, body_, notes);
    const bool enough = rest.letters(4) >= 4;
    if (!enough) notes.resize(taken);
    const Searched body = strip_opening(splitter_.split(enough ? rest : whole, finder_, notes));
    const auto choices = finder_.find(body);
    const Searched stem = body.part(0, finder_.stem);
    bool han = false;
    for (std::size_t i = 0; i < body.size() && !han; i++) han = body.is(i, Class::han);

    Outlines::Place& place = to_.places.back();
    place.han = han;
    clear(images_, image_ends_);
    place.stem = write(stem);
    for (const Range choice : choices) to_.choices.push_back(write(body.part(choice.begin, choice.end)));
    place.answer = write(splitter_.answer.reader(tables_));
    place.explanation = write(splitter_.explanation.reader(tables_));
    place.notes = write(notes_.reader(tables_));
    std::size_t begin = 0;
    for (const std::size_t end : image_ends_) {
        to_.inner.push_back(add(Points(images_).subspan(begin, end - begin)));
        begin = end;
    }
    to_.end_one();
}

// Adds points to the outline under way.
Range OutlineReader::add(Points points) {
    const std::size_t begin = to_.points.size() - to_.places.back().points;
    append(to_.points, points);
    return range_of(begin, begin + points.size());
}

Range OutlineReader::write(const Searched& part) {
    if (part.text.empty()) return add({});
    const Range range = add(flattener_.flatten(part));
    for (const Points address : flattener_.images) {
        append(images_, image_key({tables_, address}));
        image_ends_.push_back(images_.size());
    }
    return range;
}

void GistWriter::append(const Outline& outline, Buffer& out) {
    image_ = 0;
    write(outline, outline.stem, out);
    choices_.resize(outline.choices.size());
    for (std::size_t k = 0; k < choices_.size(); k++) {
        choices_[k].clear();
        write(outline, outline.choices[k], choices_[k]);
    }
    std::sort(choices_.begin(), choices_.end());
    for (const Buffer& choice : choices_) {
        out.push_back(U'\n');
        judgment::append(out, choice);
    }
}

// Letters, digits and signs, numbers in digits; a space only between two words that are not Han.
void GistWriter::write(const Outline& outline, Range part, Buffer& out) {
    const Reader text{tables_, outline.text(part)};
    content_.clear();
    bool apart = false;
    for (std::size_t i = 0, end; i < text.size(); i = end) {
        // nearly all: what is written as it is, a letter at least where no space may belong before it
        const std::uint32_t written = FormTables::PLAIN_HAN | (apart ? 0u : FormTables::PLAIN_LETTER);
        for (end = i; end < text.size() && tables_.has(text.text[end], written);) end++;
        if (end > i) {
            judgment::append(content_, text.text.subspan(i, end - i));
            apart = false;
            continue;
        }
        end = i + 1;
        const Class kind = text.kind(i);
        const bool plain = kind == Class::letter || kind == Class::digit;
        const std::size_t light = tables_.has(text.at(i), LIGHT) ? text.phrase(i, LIGHT).length : 0;
        if (light) {
            end = i + light;
        } else if (plain || kind == Class::han || kind == Class::circled) {
            if (plain && apart && !content_.empty() && tables_.is_plain(content_.back())) content_.push_back(U' ');
            if (kind == Class::digit) {
                end = number_end(text, i);
                write_number(text.text.subspan(i, end - i), content_);
            } else {
                content_.push_back(text.at(i));
            }
            apart = false;
            continue;
        } else if (text.at(i) == IMAGE_MARK && image_ < outline.images.size()) {
            judgment::append(content_, outline.text(outline.images[image_++]));
        } else if (kind == Class::sign && is_operator(text, i)) {
            content_.push_back(text.at(i));
        }
        apart = true;
    }
    write_plainly(content_, spellings_, out);
}

}  // namespace dedup::judgment
