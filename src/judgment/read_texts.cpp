#include "judgment/read_texts.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "core/utf8.hpp"

namespace dedup::judgment {

ReadTexts::ReadTexts(const Strings& texts, const FormTables& tables) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < texts.size(); i++) size += texts[i].size();
    utf8_.reserve(size);
    offsets_.reserve(texts.size() + 1);
    parsed_.points.reserve(size);
    TextParser parser(tables, parsed_);
    Buffer points;
    for (std::size_t i = 0; i < texts.size(); i++) {
        const auto bytes = texts[i];
        if (points.size() < bytes.size() + ASCII_BLOCK) points.resize(bytes.size() + ASCII_BLOCK);
        const std::ptrdiff_t count = decode_utf8(bytes, points.data());
        if (count == NOT_UTF8) refuse("text " + std::to_string(i) + " is not UTF-8");
        parser.read(Points(points).first(static_cast<std::size_t>(count)));
        utf8_.insert(utf8_.end(), bytes.begin(), bytes.end());
        offsets_.push_back(utf8_.size());
    }
}

const OwnTexts& ReadTexts::canonical(const FormTables& tables, const Spellings& spellings) {
    const std::scoped_lock lock(writing_);
    if (canonical_) return *canonical_;
    auto texts = std::make_unique<OwnTexts>();
    texts->points.reserve(parsed_.points.size());  // nearly always enough
    texts->offsets.push_back(0);
    CanonicalWriter writer(tables, spellings);
    for (std::size_t i = 0; i < size(); i++) {
        writer.append(parsed_[i], texts->points);
        texts->offsets.push_back(std::ssize(texts->points));
    }
    canonical_ = std::move(texts);
    return *canonical_;
}

const OwnTexts* ReadTexts::known_canonical() const {
    const std::scoped_lock lock(writing_);
    return canonical_.get();
}

void ReadTexts::make_room() {
    if (held_ <= MOST_POINTS) return;
    clear(parts_, places_);
    held_ = 0;
}

void ReadTexts::make_forms(const FormTables& tables, const Relations& relations, std::vector<std::size_t> rows,
                           std::size_t threads) {
    places_.resize(size(), {NONE, 0});
    std::erase_if(rows, [&](std::size_t row) { return places_[row].part != NONE; });
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.empty()) return;
    std::size_t size = 0;
    for (const std::size_t row : rows) size += points(row);
    held_ += size;
    std::mutex adding;
    share(rows.size(), threads, [&](auto take) {
        Part part;
        part.forms.inner.reserve(size / threads / 2);  // no copies, and no page untouched
        part.forms.points.reserve(size / threads);
        Tokenizer tokenizer(tables, part.forms);
        ProfileBuilder builder(relations);
        std::vector<std::size_t> made;
        for (std::size_t i; (i = take()) < rows.size();) {
            tokenizer.add(parsed_[rows[i]]);
            part.profiles.push_back(builder.build(part.forms[made.size()]));
            made.push_back(rows[i]);
        }
        const std::scoped_lock lock(adding);
        parts_.push_back(std::move(part));
        for (std::uint32_t i = 0; i < made.size(); i++)
            places_[made[i]] = {static_cast<std::uint32_t>(parts_.size() - 1), i};
    });
}

Form ReadTexts::form(std::size_t row) const {
    const auto [part, place] = places_[row];
    Form form = parts_[part].forms[place];
    form.profile = &parts_[part].profiles[place];
    return form;
}

}  // namespace dedup::judgment
