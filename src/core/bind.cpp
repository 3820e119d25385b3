// The extension module `dedup_job._core`, and the entry point of columns of strings; each other room binds its own.
#include "core/bind.hpp"

#include <cstring>

using namespace nanobind::literals;

namespace dedup {
namespace {

void copy_strings(const StringArrays& arrays, nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> to, In<std::int64_t> at) {
    const Strings strings = strings_of(arrays);
    const auto places = view(at);
    if (places.size() != strings.size()) refuse("as many places as strings are needed");
    Unlocked unlocked;
    for (std::size_t i = 0; i < strings.size(); i++) {
        const auto string = strings[i];
        if (string.empty()) continue;
        const auto place = static_cast<std::size_t>(places[i]);
        if (string.size() > to.size() || place > to.size() - string.size())
            refuse("string " + std::to_string(i) + " does not fit");
        std::memcpy(to.data() + place, string.data(), string.size());
    }
}

}  // namespace

void bind_core(nb::module_& m) {
    m.def("copy_strings", &copy_strings, "strings"_a.noconvert(), "to"_a.noconvert(), "at"_a.noconvert(),
          "Copy string i to the place at[i] of another array.");
}

}  // namespace dedup

NB_MODULE(_core, m) {
    m.doc() = "Compiled code of dedup: functions over batches, without the interpreter's lock.";
    dedup::bind_core(m);
    dedup::bind_bson(m);
    dedup::bind_cleaning(m);
    dedup::bind_fingerprint(m);
    dedup::bind_index(m);
    dedup::bind_decision(m);
    dedup::bind_judgment(m);
}
