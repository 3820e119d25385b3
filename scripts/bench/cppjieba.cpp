// Simhashes of texts by yanyiwu/simhash on cppjieba, for scripts/bench/fingerprint.py.
//
//     cppjieba DICTIONARY HMM IDF STOP_WORDS PASSES < TEXTS
//
// TEXTS: of each its length in bytes, four of them, and the text in UTF-8. Prints the processor
// seconds of a pass, loading and a first pass left out, and a hash of all simhashes.

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "simhash/Simhasher.hpp"

namespace {

constexpr std::size_t kKeywords = 30;

std::vector<std::string> read_texts(std::istream& in) {
  std::vector<std::string> texts;
  for (std::uint32_t size; in.read(reinterpret_cast<char*>(&size), sizeof size);) {
    in.read(texts.emplace_back(size, '\0').data(), size);
  }
  return texts;
}

std::uint64_t hash_all(const simhash::Simhasher& hasher, const std::vector<std::string>& texts) {
  std::uint64_t all = 0;
  for (const std::string& text : texts) {
    std::uint64_t value = 0;
    hasher.make(text, kKeywords, value);
    all = all * 31 + value;
  }
  return all;
}

}  // namespace

int main(int count, char** given) {
  if (count != 6) return 2;
  const simhash::Simhasher hasher(given[1], given[2], given[3], given[4]);
  const auto texts = read_texts(std::cin);
  auto all = hash_all(hasher, texts);
  const int passes = std::atoi(given[5]);
  const auto began = std::clock();
  for (int i = 0; i < passes; ++i) all += hash_all(hasher, texts);
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  std::cout << seconds / passes << ' ' << all << '\n';
}
