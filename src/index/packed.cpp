#include "index/packed.hpp"

#include <algorithm>

namespace dedup {

bool PackedColumn::is_sound() const {
    return form_.words(starts_.back()) == words_.size() && std::is_sorted(starts_.begin(), starts_.end()) && starts_[0] == 0;
}

}  // namespace dedup
