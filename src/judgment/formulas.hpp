// Formulas in one line: \frac{a}{b} is a/b, \leq is ≤, without braces and layout. Brackets ⟨ and ⟩ are around a fraction,
// power or index of more than a number or a letter. Images, whose keys are here, and emphasis become marks of their own.
#pragma once
#include "judgment/form_tables.hpp"

namespace dedup::judgment {

constexpr std::uint32_t OPEN_MARK = 0xFDD0, CLOSE_MARK = 0xFDD1, IMAGE_MARK = 0xFDD2;
constexpr std::uint32_t CIRCLED_NONE = 0x245F;  // before ①

constexpr std::array<std::uint32_t, 4> BLANK{U' ', U'_', U'_', U' '};

class Flattener {
public:
    std::vector<Points> images;  // addresses in the order of the marks

    // The text in one line, perhaps the text itself; valid until the next call.
    Points flatten(const Reader& text) {
        clear(out_, images, groups_);
        std::size_t i = text.find(0, FormTables::MARKS);
        if (i == text.size()) return text.text;
        text_ = &text;
        has_pair_ = std::ranges::count(text.text, U'$') != 1;
        latex_ = std::find(text.text.begin() + i, text.text.end(), U'\\') != text.text.end();
        apart_ = false;
        stop_ = 0;
        append(out_, text.text.first(i));
        while (i < text.size()) {
            const std::size_t begin = i = step(i);
            if (apart_ || i >= text.size()) continue;
            i = text.find(i, FormTables::MARKS);
            append(out_, text.text.subspan(begin, i - begin));
        }
        return out_;
    }

private:
    enum class Group : std::uint8_t { plain, look, underline, script, numerator, denominator };
    struct Opened {
        Group kind;
        std::size_t start;
    };

    std::size_t step(std::size_t i) {
        const Reader& text = *text_;
        const std::uint32_t c = text.at(i);
        std::size_t end = 0;
        switch (c) {
            case U'\\': return command(i);
            case U'{': return open(i);
            case U'}': return close(i + 1);
            case U'$':
                if (!has_pair_ && (text.is(i - 1, Class::digit) || text.is(i + 1, Class::digit))) break;
                return i + 1;
            case U'`': return i + 1;
            case U'!':
            case U'(':
                end = c == U'!' ? image(i) : enumerated(i);
                if (end) return end;
                break;
            case U'[':
                end = text.closing(i, 60);
                if (end <= i + 1 || !mark_end(end)) break;
                out_.push_back(OPEN_MARK);
                return i + 1;
            case U']':
                if (!(end = mark_end(i))) break;
                out_.push_back(CLOSE_MARK);
                return end;
        }
        const bool ranges = (c == U'~' || c == U'—') && text.is(i - 1, Class::digit) && text.is(i + 1, Class::digit);
        put(ranges ? U'-' : c == U'~' && latex_ ? U' ' : c);
        return i + 1;
    }

    // `apart_`: a letter or digit does not join the one before it.
    void put(std::uint32_t c) {
        const FormTables& tables = text_->tables;
        if (apart_ && !out_.empty() && tables.is_plain(out_.back()) && tables.is_plain(c)) out_.push_back(U' ');
        apart_ = false;
        out_.push_back(c);
    }

    std::size_t start() const { return groups_.empty() ? 0 : groups_.back().start; }  // of the innermost group

    void trim() {
        while (out_.size() > start() && out_.back() == U' ') out_.pop_back();
    }

    std::size_t begin_group(Group kind, std::size_t i) {
        if (kind != Group::plain && kind != Group::look && kind != Group::underline) {
            put(U'⟨');
            i = text_->skip(i);
        }
        groups_.push_back({kind, out_.size()});
        return i;
    }

    std::size_t command(std::size_t i) {
        const Reader& text = *text_;
        std::size_t j = i + 1;
        while (text.is_latin(j)) j++;
        if (j == i + 1) {  // \% or \_ or white space
            put(text.is_in(j, U"%_") ? text.at(j) : U' ');
            return j + 1;
        }
        const auto [flags, sign, key] = text.tables.word(text.text.subspan(i, j - i));
        const std::size_t behind = text.skip(j);
        const bool brace = text.at(behind) == U'{';
        apart_ = true;
        if (flags & SIGN) {
            trim();
            if (sign == U'°' && out_.size() > start() && out_.back() == U'^') out_.pop_back();
            put(sign);
            apart_ = true;
            return behind;
        }
        if (flags & ENVIRONMENT && brace) return environment_end(behind);
        if (flags & FRACTION && brace) return begin_group(Group::numerator, behind + 1);
        if (flags & (LOOK | UNDERLINE)) {
            if (!brace) return j;
            apart_ = false;
            return begin_group(flags & UNDERLINE ? Group::underline : Group::look, behind + 1);
        }
        for (std::size_t k = i + 1; k < j; k++) put(text.at(k));
        apart_ = true;
        return j;
    }

    std::size_t open(std::size_t i) {
        std::size_t k = out_.size();
        const std::size_t least = std::max(start(), k - std::min<std::size_t>(k, 3));
        while (k > least && out_[k - 1] == U' ') k--;
        if (k > start() && (out_[k - 1] == U'^' || (out_[k - 1] == U'_' && (k < 2 || out_[k - 2] != U'_')))) {
            out_.resize(k);
            return begin_group(Group::script, i + 1);
        }
        apart_ = true;
        return begin_group(Group::plain, i + 1);
    }

    std::size_t close(std::size_t i) {
        if (groups_.empty()) return i;
        trim();
        const auto [kind, start] = groups_.back();
        groups_.pop_back();
        if (kind == Group::look) return i;
        if (kind == Group::underline) {
            const auto is_blank = [](std::uint32_t c) { return c == U' ' || c == U'_' || c == U'.' || c == U'~'; };
            if (std::all_of(out_.begin() + start, out_.end(), is_blank)) append(out_, BLANK);
            return i;
        }
        apart_ = true;
        if (kind == Group::plain) return i;
        if (kind == Group::script && out_.size() == start + 1 && out_.back() == U'°' && out_[start - 2] == U'^') {
            out_.resize(start - 2);
            out_.push_back(U'°');
        } else if (!is_atom(start)) {
            out_.push_back(U'⟩');
        } else if (kind == Group::numerator) {
            out_[start - 1] = U' ';
        } else {
            out_.erase(out_.begin() + start - 1);
        }
        const std::size_t next = text_->skip(i);
        if (kind != Group::numerator || text_->at(next) != U'{') return i;
        out_.push_back(U'/');
        return begin_group(Group::denominator, next + 1);
    }

    // Nothing, or one character or number, with a sign or without.
    bool is_atom(std::size_t start) const {
        const Reader content{text_->tables, Points(out_).subspan(start)};
        std::size_t i = content.is_in(0, U"+-");
        if (content.size() <= i + 1) return true;
        while (content.is(i, Class::digit) || (i && content.at(i) == U'.')) i++;
        return i == content.size();
    }

    // ![alternative](address)
    std::size_t image(std::size_t i) {
        const Reader& text = *text_;
        const std::size_t end = text.at(i + 1) == U'[' ? text.closing(i + 1, 60) : 0, begin = end + 2;
        if (!end || text.at(end) != U']' || text.at(end + 1) != U'(') return 0;
        if (stop_ < begin) {  // looked for once, so that none is looked for from every image on
            stop_ = begin;
            while (stop_ < text.size() && text.at(stop_) != U')' && !text.is(stop_, Class::space)) stop_++;
        }
        if (text.at(stop_) != U')') return 0;
        out_.push_back(IMAGE_MARK);
        images.push_back(text.text.subspan(begin, stop_ - begin));
        return stop_ + 1;
    }

    // Behind ]{.name}, or 0.
    std::size_t mark_end(std::size_t i) const {
        const Reader& text = *text_;
        if (text.at(i) != U']' || text.at(i + 1) != U'{' || text.at(i + 2) != U'.') return 0;
        std::size_t j = i + 3;
        while (text.is_plain(j) || text.at(j) == U'_') j++;
        return j > i + 3 && text.at(j) == U'}' ? j + 1 : 0;
    }

    // Puts ① for (1), up to 20; f(1) and (1)=... are formulas. Returns the end, or 0.
    std::size_t enumerated(std::size_t i) {
        const Reader& text = *text_;
        const std::size_t first = text.skip(i + 1), n = text.digits(first), end = text.skip(first + n);
        if (n < 1 || n > 2 || text.at(end) != U')') return 0;
        const std::uint32_t value = (n > 1 ? 10 * (text.at(first) - U'0') : 0) + text.at(first + n - 1) - U'0';
        if (value < 1 || value > 20 || text.is_plain(i - 1) || text.is_in(i - 1, U")}")) return 0;
        std::size_t j = text.skip(end + 1);
        if (text.is_latin(j)) j = text.skip(j + 1);
        if (text.is_in(j, U"-+=")) return 0;
        put(CIRCLED_NONE + value);
        return end + 1;
    }

    // Behind {name} and {c|c} of \begin.
    std::size_t environment_end(std::size_t i) const {
        const Reader& text = *text_;
        for (const std::u32string_view allowed : {U"abcdefghijklmnopqrstuvwxyz* ", U"clr| "}) {
            std::size_t j = i + 1;
            while (j < text.size() && allowed.find(text.at(j)) != allowed.npos) j++;
            if (text.at(i) != U'{' || text.at(j) != U'}') return i;
            i = j + 1;
        }
        return i;
    }

    const Reader* text_ = nullptr;
    Buffer out_;
    std::vector<Opened> groups_;
    bool apart_ = false;
    bool latex_ = false;
    bool has_pair_ = false;  // of $, which are no dollars then
    std::size_t stop_ = 0;
};

// Behind the last of these characters, 0 if there is none.
inline std::size_t behind_last(Points text, std::uint32_t c) {
    std::size_t i = text.size();
    while (i > 0 && text[i - 1] != c) i--;
    return i;
}

inline bool is_one_of(Points name, std::span<const std::u32string_view> words) {
    return std::ranges::any_of(words, [&](auto word) { return std::ranges::equal(name, word); });
}

// Whether a parameter of an address is about access, caches, sizes or where the link was found.
inline bool is_passing(Points name) {
    static constexpr std::u32string_view WORDS[] = {
        U"e", U"expires", U"sign", U"signature", U"sig", U"token", U"access_token", U"auth", U"auth_key", U"keyid",
        U"accesskeyid", U"ossaccesskeyid", U"awsaccesskeyid", U"key-pair-id", U"policy", U"wssecret", U"wstime", U"t",
        U"ts", U"v", U"ver", U"version", U"_", U"_t", U"timestamp", U"time", U"r", U"rnd", U"rand", U"random",
        U"nocache", U"cache", U"cb", U"date", U"w", U"h", U"width", U"height", U"size", U"quality", U"format", U"dpr",
        U"scale", U"tp", U"from", U"source", U"ref"};
    static constexpr std::u32string_view BEGINNINGS[] = {U"x-amz-", U"x-oss-", U"x-cos-", U"x-image-", U"security-",
                                                         U"q-", U"utm_", U"wx", U"spm"};
    return name.empty() || is_one_of(name, WORDS) ||
           std::ranges::any_of(BEGINNINGS, [&](auto word) { return begins(name, word); });
}

constexpr std::u32string_view FILES[] = {U"png", U"jpg",  U"jpeg", U"gif", U"bmp", U"webp", U"svg",
                                         U"wmf", U"tiff", U"mp3",  U"wav", U"m4a", U"mp4"};

// Whether a part of an address is the size of a picture: 300x200, 720w, thumb.
inline bool is_size(const Reader& part) {
    static constexpr std::u32string_view UNITS[] = {U"w", U"h", U"px"},
                                         WORDS[] = {U"thumb", U"thumbs", U"thumbnail", U"preview", U"scaled"};
    const std::size_t n = part.digits(0), m = part.at(n) == U'x' ? part.digits(n + 1) : 0;
    if (n < 2) return is_one_of(part.text, WORDS);
    return is_one_of(part.text.subspan(n), UNITS) || (m > 1 && n + m > 4 && n + 1 + m == part.size());
}

// The end of a file's name: x.png of x.png!thumb or x.jpg_300x300.jpg; 0 if there is none.
inline std::size_t file_end(const Reader& part) {
    for (const auto type : FILES) {
        const auto found = std::ranges::search(part.text, type);
        const std::size_t end = found.end() - part.text.begin(), n = part.digits(end + 1);
        const bool ends = end == part.size() || part.is_in(end, U"!@") || (n > 1 && part.at(end + 1 + n) == U'x');
        if (!found.empty() && end > type.size() + 1 && part.at(end - type.size() - 1) == U'.' && ends) return end;
    }
    return 0;
}

// Appends an address without sizes: 1.png of 1_720w.png, 1-300x200.png, max/60/1.png and 1.png/220px-1.png.
inline void append_sizeless(const Reader& address, Buffer& to) {
    bool wanted = false;  // a number is a size
    for (std::size_t i = 0, end; i < address.size(); i = end + 1) {
        end = address.find_point(i, U'/');
        const Reader part = address.part(i, end);
        std::size_t stop = file_end(part);
        if (stop || end == address.size()) {  // the file
            const std::size_t dot = stop ? behind_last(part.text.first(stop), U'.') - 1 : part.size();
            std::size_t mark = dot;
            while (mark > 1 && !part.is_in(mark - 1, U"_-")) mark--;
            const bool sized = mark > 1 && (is_size(part.part(mark, dot)) || (begins(part.text, U"v2-") && mark > 3));
            append(to, part.text.first(sized ? mark - 1 : dot));
            return append(to, part.text.subspan(dot, (stop ? stop : part.size()) - dot));
        }
        if (!is_size(part) && !(wanted && part.digits(0) == part.size())) append(to, address.text.subspan(i, end + 1 - i));
        wanted = std::ranges::equal(part.text, std::u32string_view(U"max"));
    }
}

// Appends the key of a picture: its file's name if that is unique, else the address without protocol; and the parameters
// that name it. Of a picture's file few do. All behind the path does if nothing else names it.
inline void append_image_key(const Reader& address, Buffer& to) {
    static constexpr std::u32string_view NAMES[] = {U"id", U"fileid", U"imgid", U"picid", U"file", U"filename", U"key",
                                                    U"page", U"index", U"top_left_x", U"top_left_y"};
    const Points all = address.text;
    if (all.empty()) return dedup::append(to, std::u32string_view(U"image"));
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
    const Points name = whole.subspan(behind_last(whole, U'/'));
    const std::size_t dot = behind_last(name, U'.');
    append(to, (dot > 1 ? dot - 1 : name.size()) >= 8 && has_digit(name) ? name : path);
    const bool is_file = dot && is_one_of(name.subspan(dot), FILES);
    const bool is_named = is_file || has_digit(path.subspan(host.empty() ? 0 : cut(path, U"/").size()));
    const std::size_t size = to.size();
    for (Points left = cut(behind, U"#"); left.size() > 1;) {
        const Points parameter = cut(left.subspan(1), U"&"), key = cut(parameter, U"=");
        if (is_file ? is_one_of(key, NAMES) : !is_passing(key)) append(to, left.first(parameter.size() + 1));
        left = left.subspan(parameter.size() + 1);
    }
    if (to.size() == size && !is_named) append(to, behind);
}

// Behind 1,234,567.8.
inline std::size_t number_end(const Reader& text, std::size_t i) {
    const std::size_t n = text.digits(i);
    std::size_t end = i + n;
    while (n <= 3 && text.at(end) == U',' && text.digits(end + 1) == 3) end += 4;
    const std::size_t decimals = text.at(end) == U'.' ? text.digits(end + 1) : 0;
    return decimals ? end + 1 + decimals : end;
}

// Appends a number: 3.0 is 3, 007 is 7, 1,000 is 1000.
inline void write_number(Points number, Buffer& out) {
    const std::size_t begin = out.size();
    bool whole = true;
    for (const std::uint32_t c : number) {
        if (c == U'.') {
            if (out.size() == begin) out.push_back(U'0');
            whole = false;
        }
        if (c == U',' || (c == U'0' && whole && out.size() == begin)) continue;
        out.push_back(c);
    }
    if (!whole) {
        while (out.back() == U'0') out.pop_back();
        if (out.back() == U'.') out.pop_back();
    }
    if (out.size() == begin) out.push_back(U'0');
}

// Brackets that belong to a formula, (a+b) and [2,6], are marked in `keep`, one for each character.
inline void mark_brackets(const Reader& text, std::vector<std::size_t>& opened, std::vector<bool>& keep) {
    const auto is_formula = [](const Reader& inner) {
        bool sign = false, plain = false;
        std::size_t word = 0;
        for (std::size_t i = 0; i < inner.size(); i++) {
            if (inner.is(i, Class::han)) return false;
            plain |= inner.is_plain(i);
            sign |= inner.is_in(i, U",^") || (inner.is(i, Class::sign) && !inner.is_in(i, U"_'!~%°·"));
            word = inner.is_latin(i) ? word + 1 : 0;
            if (word >= 5) return false;
        }
        return sign && plain;
    };
    opened.clear();
    keep.assign(text.size(), false);
    constexpr std::uint32_t some = FormTables::BRACKETS;
    for (std::size_t i = text.find_trait(0, some); i < text.size(); i = text.find_trait(i + 1, some)) {
        if (text.is_in(i, U"([")) opened.push_back(i);
        if (text.at(i) == U'\n') opened.clear();
        if (!text.is_in(i, U")]") || opened.empty()) continue;
        const std::size_t begin = opened.back();
        opened.pop_back();
        if (i - begin <= 81 && is_formula(text.part(begin + 1, i))) keep[begin] = keep[i] = true;
    }
}

// Whether a sign has a meaning at i: - in a-1, not in well-known.
inline bool is_operator(const Reader& text, std::size_t i) {
    const auto is_side = [&](std::size_t k) { return text.is_plain(k) || text.is_in(k, U"()⟨⟩√|"); };
    const auto is_letter = [&](std::size_t k) { return text.is(k, Class::letter); };
    const auto is_one = [&](std::size_t k) { return text.is_plain(k) && !text.is_plain(k - 1) && !text.is_plain(k + 1); };
    if (text.is_in(i, U"<>")) return text.at(i - 1) != text.at(i) && text.at(i + 1) != text.at(i);  // << >> quote a title
    if (text.is_in(i, U"/·*~")) return is_side(i - 1) && is_side(i + 1);
    switch (text.at(i)) {
        case U'-': {
            std::size_t k = i + 1;
            while (k < text.size() && text.at(k) == U' ') k++;
            if (text.is(i - 1, Class::han)) return false;
            if (text.is(k, Class::digit)) return true;
            const bool single = text.is_in(k, U"(⟨√") || (is_letter(k) && !is_letter(k + 1));
            return single && !(is_letter(i - 1) && is_letter(i - 2));
        }
        case U'_': return text.at(i - 1) != U'_' && text.at(i + 1) != U'_' && is_side(i - 1) && is_side(i + 1);
        case U'!':
            if (text.is_in(i + 1, U"=(") || is_letter(i + 1)) return !is_letter(i - 1);
            return text.is(i - 1, Class::digit);
        case U'\'': {
            std::size_t k = i - 1, end = i + 1;
            while (text.at(k) == U'\'') k--;
            while (text.at(end) == U'\'') end++;
            return is_letter(k) && !is_letter(end) && !is_letter(k - 1);
        }
        case U'|':  // x | y
            return is_side(i - 1) || is_side(i + 1) || (text.at(i - 1) == U' ' && is_one(i - 2) && is_one(i + 2));
        default: return true;
    }
}

// Whether a character that is no token is a sign all the same: ♀ and £, * of **kwargs, [ and : of a[:3].
inline bool is_mark(const Reader& text, std::size_t i) {
    if (text.at(i) == U'[') return text.is_plain(i - 1);
    if (text.at(i) == U':') return text.at(i - 1) == U'[' || text.at(i + 1) == U']';
    return text.is_in(i, U"&*·") || text.is(i, Class::mark);
}

}  // namespace dedup::judgment
