// Entry point of the BSON room.
#include "core/bind.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bson/scan.hpp"

using namespace nanobind::literals;

namespace dedup {

void bind_bson(nb::module_& m) {
    m.def(
        "find_fields",
        [](In<std::uint8_t> array, std::vector<std::string> path) {
            std::optional<std::vector<bson::Fields>> rows;
            {
                Unlocked unlocked;
                rows = bson::Scanner(std::move(path)).find(view(array));
            }
            if (!rows) refuse("the server's reply is no array of documents");
            constexpr std::size_t columns = sizeof(bson::Fields) / sizeof(std::int64_t);
            const auto* first = reinterpret_cast<const std::int64_t*>(rows->data());
            return give(std::vector<std::int64_t>(first, first + columns * rows->size()));
        },
        "array"_a.noconvert(), "path"_a,
        "Return where n documents of a BSON array and their fields lie, int64 (n * 7,): see bson::Fields.\n\n"
        "Raises ValueError where it is no array of documents.");
}

}  // namespace dedup
