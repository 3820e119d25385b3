// Seconds that a block takes.
#pragma once
#include <chrono>

namespace dedup {

// Adds the seconds until it goes to a sum.
class Timer {
public:
    explicit Timer(double& sum) : sum_(sum) {}
    Timer(const Timer&) = delete;
    ~Timer() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count(); }

private:
    double& sum_;
    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace dedup
