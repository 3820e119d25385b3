// Entry points of equal texts.
#include "index/bind.hpp"

#include <bit>

#include "index/equal.hpp"

using namespace nanobind::literals;

namespace dedup {
namespace {

void check_table(const InOut<std::uint32_t>& table, const In<std::uint64_t>& digests, std::size_t size) {
    if (!std::has_single_bit(table.size()) || size >= table.size() || size > digests.size() || size > MOST)
        refuse("a table of another size than its texts take");
}

void equal_insert(InOut<std::uint32_t> table, In<std::uint64_t> digests, std::size_t start, std::size_t stop) {
    check_table(table, digests, stop);
    if (start > stop) refuse("start is behind stop");
    Unlocked unlocked;
    EqualTable(view(table), view(digests)).insert(start, stop);
}

Out<std::int64_t> equal_find(InOut<std::uint32_t> table, In<std::uint64_t> digests, In<std::uint64_t> fingerprints,
                             In<std::uint64_t> values, In<std::uint64_t> sought) {
    check_table(table, digests, digests.size());
    if (fingerprints.size() < digests.size()) refuse("there are fewer fingerprints than digests");
    expect("digests", sought.size(), values.size());
    std::vector<std::int64_t> found(values.size());
    {
        Unlocked unlocked;
        EqualTable(view(table), view(digests)).find(view(fingerprints), view(values), view(sought), found);
    }
    return give(std::move(found));
}

}  // namespace

void bind_equal(nb::module_& m) {
    m.def("equal_insert", &equal_insert, "table"_a.noconvert(), "digests"_a.noconvert(), "start"_a, "stop"_a);
    m.def("equal_find", &equal_find, "table"_a.noconvert(), "digests"_a.noconvert(), "fingerprints"_a.noconvert(),
          "values"_a.noconvert(), "sought"_a.noconvert(),
          "Return the number of the first text with each value and digest, or -1; int64 (n,).");
}

}  // namespace dedup
