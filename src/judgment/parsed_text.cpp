// Texts read into parts, without numbering, in one notation.
#include "judgment/formulas.hpp"
#include "judgment/judge.hpp"

namespace dedup::judgment {
namespace {

// Behind the last of these characters, 0 if there is none.
std::size_t find_last(Points text, std::uint32_t c) {
    std::size_t i = text.size();
    while (i > 0 && text[i - 1] != c) i--;
    return i;
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

constexpr std::u32string_view FILES[] = {U"png", U"jpg",  U"jpeg", U"gif", U"bmp", U"webp", U"svg",
                                         U"wmf", U"tiff", U"mp3",  U"wav", U"m4a", U"mp4"};

// Whether a part of an address says how large a picture is: 300x200, 720w, thumb.
bool is_size(const Reader& part) {
    static constexpr std::u32string_view UNITS[] = {U"w", U"h", U"px"},
                                         WORDS[] = {U"thumb", U"thumbs", U"thumbnail", U"preview", U"scaled"};
    const std::size_t n = part.digits(0), m = part.at(n) == U'x' ? part.digits(n + 1) : 0;
    if (n < 2) return is_one_of(part.text, WORDS);
    return is_one_of(part.text.subspan(n), UNITS) || (m > 1 && n + m > 4 && n + 1 + m == part.size());
}

// Where the name of a file ends: x.png of x.png!thumb or x.jpg_300x300.jpg; 0 if there is none.
std::size_t file_end(const Reader& part) {
    for (const auto type : FILES) {
        const auto found = std::ranges::search(part.text, type);
        const std::size_t end = found.end() - part.text.begin(), n = part.digits(end + 1);
        const bool ends = end == part.size() || part.is_in(end, U"!@") || (n > 1 && part.at(end + 1 + n) == U'x');
        if (!found.empty() && end > type.size() + 1 && part.at(end - type.size() - 1) == U'.' && ends) return end;
    }
    return 0;
}

// Appends an address without sizes: 1.png of 1_720w.png, 1-300x200.png, max/60/1.png and 1.png/220px-1.png.
void append_sizeless(const Reader& address, Buffer& to) {
    bool wanted = false;  // a number is a size
    for (std::size_t i = 0, end; i < address.size(); i = end + 1) {
        end = std::find(address.text.begin() + i, address.text.end(), U'/') - address.text.begin();
        const Reader part = address.part(i, end);
        std::size_t stop = file_end(part);
        if (stop || end == address.size()) {  // the file
            const std::size_t dot = stop ? find_last(part.text.first(stop), U'.') - 1 : part.size();
            std::size_t mark = dot;
            while (mark > 1 && !part.is_in(mark - 1, U"_-")) mark--;
            const bool sized = mark > 1 && (is_size(part.part(mark, dot)) || (begins(part.text, U"v2-") && mark > 3));
            stop = stop ? stop : part.size();
            append(to, part.text.first(sized ? mark - 1 : dot));
            return append(to, part.text.subspan(dot, stop - dot));
        }
        if (!is_size(part) && !(wanted && part.digits(0) == part.size())) append(to, address.text.subspan(i, end + 1 - i));
        wanted = std::ranges::equal(part.text, std::u32string_view(U"max"));
    }
}

// Appends what a picture is known by: the file's name where it is one by itself, else the address without protocol; and
// the parameters that name it. Of a picture's file few do. All that follows the path does if nothing else names it.
void append_image_key(const Reader& address, Buffer& to) {
    static constexpr std::u32string_view NAMES[] = {U"id", U"fileid", U"imgid", U"picid", U"file", U"filename", U"key",
                                                    U"page", U"index", U"top_left_x", U"top_left_y"};
    static constexpr std::u32string_view NAMELESS = U"image";
    const Points all = address.text;
    const auto cut = [](Points text, std::u32string_view ends) {  // before the first of these characters
        return text.first(std::ranges::find_first_of(text, ends) - text.begin());
    };
    const auto has_digit = [&](Points text) { return address.tables.has_any(text, Class::digit); };
    Buffer sizeless;
    const bool is_data = begins(all, U"data:");
    const Points written = is_data ? all : cut(all, U"?#"), behind = all.subspan(written.size());
    if (!is_data) append_sizeless({address.tables, written}, sizeless);
    const Points whole = is_data ? all : Points(sizeless);
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
    if (all.empty()) dedup::append(to, NAMELESS);
}

class TextParser {
public:
    TextParser(const FormTables& tables, ParsedTexts& to) : tables_(tables), to_(to) {}

    void read(Points text) {
        fold(keep_capitals(text));
        Buffer& notes = notes_.points;
        notes.clear();
        const Searched whole = take_brackets(strip_tags(text_.reader(tables_), notes), rest_, notes);
        const std::size_t taken = notes.size();
        const Searched rest = take_sentences(whole, body_, notes);
        const bool enough = rest.letters(4) >= 4;
        if (!enough) notes.resize(taken);
        const Searched task = splitter_.split(enough ? rest : whole, finder_, notes), behind = behind_opening(task);
        const Searched body = behind.letters(4) >= 4 ? behind : task;
        const auto choices = finder_.find(body, true);
        const Searched stem = body.part(0, finder_.stem);

        ParsedTexts::Place& place = to_.places.back();
        place.han = tables_.has_any(body.text, Class::han);
        place.layout.provisions = is_provision(task, 0);
        place.stem = write(stem);
        for (const Range choice : choices) to_.choices.push_back(write(body.part(choice.begin, choice.end)));
        place.answer = write(splitter_.answer.reader(tables_));
        place.explanation = write(splitter_.explanation.reader(tables_));
        place.notes = write(notes_.reader(tables_));
        to_.end_one();
    }

private:
    // What a character becomes beside others, 0 if it is one with the last: é, but 著 is 着 where it forms no word. What
    // quotation marks name is as it is written: “髮” is not “發”.
    std::uint32_t join(Points text, std::size_t i, std::span<std::uint32_t> before) const {
        const std::uint32_t point = text[i], folded = tables_.folded[point][0], named = i ? text[i - 1] : U' ';
        const std::uint32_t last = before.empty() ? U' ' : before.back(), next = i + 1 < text.size() ? text[i + 1] : U' ';
        if (point == U'著') {
            const auto is_word = [&](std::array<std::uint32_t, 2> both) { return tables_.lexicon->holds(both); };
            const bool of_word = is_word({last, point}) || is_word({point, next < PLANE ? tables_.single[next] : next});
            return of_word ? point : folded;
        }
        if (folded == U'"' || folded == U'\'') {
            const bool written = tables_.class_of(named) == Class::han || (U'A' <= named && named <= U'Z');
            if (written && before.size() > 1 && before[before.size() - 2] == folded) before.back() = named;
            return folded;
        }
        const std::uint32_t whole = tables_.word(std::array{last, folded}).number;
        if (whole) before.back() = whole;
        return whole ? 0 : folded;
    }

    // Characters as they are compared; superscripts and subscripts as ^{...} and _{...}.
    void fold(Points text) {
        Buffer& to = text_.points;
        to.resize(text.size());  // there is always room for as many as are left
        std::size_t size = 0;
        std::uint32_t script = 0, joined = 0;
        const auto put = [&](std::uint32_t point) {
            to.push_back(0);
            to[size++] = point;
        };
        const std::uint32_t* const single = tables_.single.data();
        for (std::size_t i = 0; i < text.size(); i++) {
            std::uint32_t* next = &to[size];
            for (; !script && i < text.size() && text[i] < PLANE && single[text[i]]; i++) *next++ = single[text[i]];
            size = next - to.data();
            if (i == text.size()) break;
            const std::uint32_t& point = text[i];
            const std::size_t place = tables_.folded_place(point);
            std::uint32_t now = place < FormTables::FOLDED ? tables_.scripts[place] : 0;
            Points folded = place < FormTables::FOLDED ? tables_.folded[place] : Points(&point, 1);
            if (now == FormTables::JOINED) {
                joined = join(text, i, std::span(to).first(size));
                folded = Points(&joined, joined != 0);
                now = script;
            }
            if (now != script) {
                if (script) put(U'}');
                if (now) {
                    put(now);
                    put(U'{');
                }
                script = now;
            }
            for (const std::uint32_t one : folded) put(one);
        }
        if (script) put(U'}');
        to.resize(size);
    }

    // The text with what folds to a capital in place of those that mean something else than the small letter: alleles (Dd,
    // XBXb), what a text has in both cases (x=1; X=2), 5mW, 5MV and 5Mb, \D and ls -A, and the word Polish.
    Points keep_capitals(Points text) {
        constexpr std::uint32_t CAPITALS = 0xFDD6 - U'A';
        const Reader all{tables_, text};
        const auto is_capital = [](std::uint32_t c) { return c - U'A' < 26; };
        const auto is_latin = [](std::uint32_t c) { return (c | 32) - U'a' < 26; };
        const auto is_other = [](std::uint32_t c) { return (c | 32) - U'a' >= 26; };
        const auto is_letter = [&](std::size_t i) { return is_latin(all.at(i)); };
        const auto bit = [](std::uint32_t c) { return std::uint32_t{1} << (c & 31); };
        const auto behind_space = [&](std::size_t i) { return i - 1 - (all.at(i - 1) == U' '); };
        const auto is_symbol = [&](std::size_t i, std::size_t end) {  // no label: A. and (A) and 答案：A
            const bool column = all.is_in(i - 1, U"|{") && all.is_in(i, U"clr");  // of a table
            const bool label = (all.is_in(end, U".．、:：)）") && !is_letter(i - 2)) || all.is_in(behind_space(i), U":：");
            if (end == i + 1) return !column && (text[i] > U'H' || !label);
            if (end == i + 2) return bit(text[i]) == bit(text[i + 1]);
            return end <= i + 6 && std::any_of(text.begin() + i + 1, text.begin() + end, [](auto c) { return c < U'a'; });
        };
        const auto find = [&](std::size_t i, auto wanted) -> std::size_t {
            return std::find_if(text.begin() + i, text.end(), wanted) - text.begin();
        };
        std::uint32_t small = 0, large = 0, longer_small = 0, longer_large = 0;  // letters by themselves; in longer symbols
        const auto counts = [&](std::size_t i, std::size_t end) {  // as a symbol
            if (!is_symbol(i, end)) return false;
            std::uint32_t &upper = end > i + 1 ? longer_large : large, &lower = end > i + 1 ? longer_small : small;
            for (std::size_t k = i; k < end; k++) (text[k] < U'a' ? upper : lower) |= bit(text[k]);
            return true;
        };
        runs_.clear();
        for (std::size_t i = find(0, is_capital), end; i < text.size(); i = find(end, is_capital)) {
            end = find(i, is_other);
            while (is_letter(i - 1)) i--;
            const bool kept = end > i + 6 ? std::min(text[i], text[i + 1]) < U'a' : counts(i, end) || end > i + 1;
            if (kept) runs_.push_back(range_of(i, end));
        }
        if (runs_.empty()) return text;
        const std::uint32_t a_i = bit(U'a') | bit(U'i'), words = large & a_i && !tables_.has_any(text, Class::han) ? a_i : 0;
        for (std::size_t i = 0, end; ((large & ~words) | longer_large) && (i = find(i, is_latin)) < text.size(); i = end) {
            end = find(i, is_other);
            if (end <= i + 2) counts(i, end);  // longer ones are symbols by their capitals
        }
        const std::uint32_t both = (longer_small & longer_large) | (small & large & ~words);
        cased_.clear();
        for (const auto [i, end] : runs_) {
            const bool symbol = both && is_symbol(i, end), single = end == i + 1;
            const bool behind = all.is(behind_space(i), Class::digit);  // a number
            const bool option = all.at(i - 1) == U'-' && all.at(i - 2) == U' ' && is_letter(i - 3) && is_letter(i - 4);
            const bool named = all.is_in(end, U"这一") && (all.stands(end, U"这个单词") || all.stands(end, U"这个词") || all.stands(end, U"一词"));
            const bool word = named || (all.is_in(i - 1, U"词 ") && (all.stands(i - 2, U"单词") || all.stands(i - 5, U"word ")));
            const bool bits = end == i + 2 && all.is_in(i, U"KMGT") && text[i + 1] == U'b';
            const bool first = word || (single && (all.at(i - 1) == U'\\' || option)) ||
                               (behind && (bits || (text[i] == U'M' && all.is_in(i + 1, U"VJN\u03a9\u2126"))));
            const bool second = behind && text[i] == U'm' && all.is_in(i + 1, U"WHP");
            for (std::size_t k = i; k < end; k++) {
                const bool kept = (symbol && both & bit(text[k])) || (k == i && first) || (k == i + 1 && second);
                if (!kept || text[k] >= U'a') continue;
                if (cased_.empty()) cased_.assign(text.begin(), text.end());
                cased_[k] += CAPITALS;
            }
        }
        return cased_.empty() ? text : Points(cased_);
    }

    Range write(const Searched& part) {
        if (part.text.empty()) return to_.write({});
        const Range range = to_.write(flattener_.flatten(part));
        for (const Points address : flattener_.images) {
            image_.clear();
            append_image_key({tables_, address}, image_);
            to_.inner.push_back(to_.write(image_));
        }
        return range;
    }

    const FormTables& tables_;
    ParsedTexts& to_;
    ChoiceFinder finder_;
    NoteSplitter splitter_;
    Flattener flattener_;
    SearchedText text_, rest_, body_, notes_;
    Buffer image_, cased_;
    std::vector<Range> runs_;
};

// Letters, digits and signs, numbers in digits; a space only between two words that are not Han.
void write_part(const ParsedText& parsed, Range part, const FormTables& tables, const Spellings& spellings, std::size_t& image, Buffer& out) {
    const Reader text{tables, parsed.text(part)};
    Buffer content;
    content.reserve(part.size());
    bool apart = false;
    for (std::size_t i = 0, end; i < text.size(); i = end) {
        // nearly all: what is written as it is, a letter at least where no space may belong before it
        const std::uint32_t written = FormTables::PLAIN_HAN | (apart ? 0u : FormTables::PLAIN_LETTER);
        for (end = i; end < text.size() && tables.has(text.text[end], written);) end++;
        if (end > i) {
            append(content, text.text.subspan(i, end - i));
            apart = false;
            continue;
        }
        end = i + 1;
        const Class kind = text.kind(i);
        const bool plain = kind == Class::letter || kind == Class::digit;
        const std::size_t light = tables.has(text.at(i), LIGHT) ? text.phrase(i, LIGHT).length : 0;
        if (light) {
            end = i + light;
        } else if (plain || kind == Class::han || kind == Class::circled) {
            if (plain && apart && !content.empty() && tables.is_plain(content.back())) content.push_back(U' ');
            if (kind == Class::digit) {
                end = number_end(text, i);
                write_number(text.text.subspan(i, end - i), content);
            } else {
                content.push_back(text.at(i));
            }
            apart = false;
            continue;
        } else if (text.at(i) == IMAGE_MARK && image < parsed.images.size()) {
            append(content, parsed.text(parsed.images[image++]));
        } else if (kind == Class::sign && is_operator(text, i)) {
            content.push_back(text.at(i));
        }
        apart = true;
    }
    write_plainly(content, spellings, out);
}

}  // namespace

void Judge::write_canonical(const ParsedText& parsed, Buffer& out) const {
    out.clear();
    std::size_t image = 0;
    const auto write = [&](Range part, Buffer& to) { write_part(parsed, part, tables_, relations_.spellings, image, to); };
    write(parsed.stem, out);
    std::vector<Buffer> choices(parsed.choices.size());
    for (std::size_t k = 0; k < choices.size(); k++) write(parsed.choices[k], choices[k]);
    std::ranges::sort(choices);
    for (const Buffer& choice : choices) {
        out.push_back(U'\n');
        append(out, choice);
    }
}

ReadTexts::ReadTexts(const Strings& texts, const FormTables& tables, const Each& each) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < texts.size(); i++) size += texts[i].size();
    utf8_.data.reserve(size);
    parsed_.points.reserve(size);
    TextParser parser(tables, parsed_);
    TextReader reader(texts);
    for (std::size_t i = 0; i < texts.size(); i++) {
        const Points text = reader[i];
        parser.read(text);
        utf8_.add(texts[i]);
        if (each) each(text, parsed_[i]);
    }
}

}  // namespace dedup::judgment
