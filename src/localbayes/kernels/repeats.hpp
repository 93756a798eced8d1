// Equal rows: which rows of a table have the same codes and the same class.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace localbayes {

// cells[row] is the number of the row's cell; cells are numbered as they first occur, in the rows `first`. Gives up and
// returns false as soon as there are more than `most` cells. There are fewer than 2^32 - 1 rows.
template <class Code>
bool find_repeats(const Code* codes, const int64_t* classes, int64_t n, size_t m, int64_t most, uint32_t* cells,
                  std::vector<int64_t>& first);

}  // namespace localbayes
