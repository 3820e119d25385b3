// The extension module `dedup_job._core`: each room binds its own entry points.
#include "core/bind.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// Whether the processor has the instruction popcnt, with which this code is compiled.
static bool counts_bits() {
#if defined(__x86_64__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_POPCNT);
#else
    return true;
#endif
}

NB_MODULE(_core, m) {
    if (!counts_bits())
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
