// The extension module `dedup_job._core`: each room binds its own entry points.
#include "core/bind.hpp"
#include "core/processor.hpp"

NB_MODULE(_core, m) {
    if (!dedup::counts_bits())
        throw nanobind::import_error("this processor is older than 2008: dedup needs its instruction popcnt");
    m.doc() = "Compiled code of dedup: functions over batches, without the interpreter's lock.";
    dedup::bind_core(m);
    dedup::bind_bson(m);
    dedup::bind_cleaning(m);
    dedup::bind_fingerprint(m);
    dedup::bind_index(m);
    dedup::bind_decision(m);
    dedup::bind_judgment(m);
}
