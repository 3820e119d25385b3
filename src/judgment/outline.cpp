#include "judgment/outline.hpp"

namespace dedup::judgment {
namespace {

// Behind the last of these characters, 0 if there is none.
std::size_t find_last(Points text, std::uint32_t c) {
    std::size_t i = text.size();
    while (i > 0 && text[i - 1] != c) i--;
    return i;
}

bool begins(Points text, std::u32string_view word) {
    return text.size() >= word.size() && std::ranges::equal(text.first(word.size()), word);
}

bool is_one_of(Points name, std::span<const std::u32string_view> words) {
    return std::ranges::any_of(words, [&](auto word) { return std::ranges::equal(name, word); });
}

// Whether a parameter of an address says who may see a picture and until when, that no cache is to answer, how large it
// is wanted, or where the link was found.
bool is_passing(Points name) {
    static constexpr std::u32string_view WORDS[] = {
        U"e", U"expires", U"sign", U"signature", U"sig", U"token", U"access_token", U"auth", U"auth_key", U"keyid",
        U"accesskeyid", U"ossaccesskeyid", U"awsaccesskeyid", U"key-pair-id", U"policy", U"wssecret", U"wstime", U"t",
        U"ts", U"v", U"ver", U"version", U"_", U"_t", U"timestamp", U"time", U"r", U"rnd", U"rand", U"random",
        U"nocache", U"cache", U"cb", U"date", U"w", U"h", U"width", U"height", U"size", U"quality", U"format", U"dpr",
        U"scale", U"tp", U"from", U"source", U"ref"};
    static constexpr std::u32string_view BEGINNINGS[] = {U"x-amz-", U"x-oss-", U"x-cos-", U"x-image-", U"security-",
                                                         U"q-", U"utm_", U"wx", U"spm"};
    const auto begins_with = [&](std::u32string_view word) { return begins(name, word); };
    return name.empty() || is_one_of(name, WORDS) || std::ranges::any_of(BEGINNINGS, begins_with);
}

// Appends what a picture is known by: the file's name where it is one by itself, else the address without protocol; and
// the parameters that name it. Of a picture's file few do. All that follows the path does if nothing else names it.
void append_image_key(const Reader& address, Buffer& to) {
    static constexpr std::u32string_view FILES[] = {U"png", U"jpg",  U"jpeg", U"gif", U"bmp", U"webp", U"svg",
                                                    U"wmf", U"tiff", U"mp3",  U"wav", U"m4a", U"mp4"},
                                         NAMES[] = {U"id", U"fileid", U"imgid", U"picid", U"file", U"filename", U"key",
                                                    U"page", U"index", U"top_left_x", U"top_left_y"};
    static constexpr std::u32string_view NAMELESS = U"image";
    const Points all = address.text;
    const auto cut = [](Points text, std::u32string_view ends) {  // before the first of these characters
        return text.first(std::ranges::find_first_of(text, ends) - text.begin());
    };
    const auto has_digit = [&](Points text) {
        return std::ranges::any_of(text, [&](std::uint32_t c) { return address.tables.class_of(c) == Class::digit; });
    };
    const Points whole = begins(all, U"data:") ? all : cut(all, U"?#");
    const Points behind = all.subspan(whole.size());
    const auto host = std::ranges::search(whole, std::u32string_view(U"//"));
    const Points path = host.empty() ? whole : whole.subspan(host.end() - whole.begin());
    const Points name = whole.subspan(find_last(whole, U'/'));
    const std::size_t dot = find_last(name, U'.');
    append(to, (dot > 1 ? dot - 1 : name.size()) >= 8 && has_digit(name) ? name : path);
    const bool is_file = dot && is_one_of(name.subspan(dot), FILES);
    const bool is_named = is_file || has_digit(path.subspan(host.empty() ? 0 : cut(path, U"/").size()));
    const std::size_t size = to.size();
    for (Points left = cut(behind, U"#"); left.size() > 1;) {
        const Points parameter = cut(left.subspan(1), U"&");
        const Points of = cut(parameter, U"=");
        if (is_file ? is_one_of(of, NAMES) : !is_passing(of)) append(to, left.first(parameter.size() + 1));
        left = left.subspan(parameter.size() + 1);
    }
    if (to.size() == size && !is_named) append(to, behind);
    if (all.empty()) to.insert(to.end(), NAMELESS.begin(), NAMELESS.end());
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
    const Searched task = splitter_.split(enough ? rest : whole, finder_, notes), body = strip_opening(task);
    const auto choices = finder_.find(body);
    const Searched stem = body.part(0, finder_.stem);
    bool han = false;
    for (std::size_t i = 0; i < body.size() && !han; i++) han = body.is(i, Class::han);

    Outlines::Place& place = to_.places.back();
    place.han = han;
    place.layout.provisions = is_provision(task, 0);
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
        append_image_key({tables_, address}, images_);
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
