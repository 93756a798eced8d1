// Weighted sums of C.
#pragma once
#include "weights.hpp"

namespace localbayes {
namespace {

// T[i][k] = sum_d w[d][k] C[d, i] for `room` sets k, over the distances that are live. Four columns, of the only
// set or of four, stay in registers.
template <class W>
class Weigher {
public:
    explicit Weigher(const Batch& b) : rows_(size_t(b.n_distances()) * b.raw_width()) {}

    template <class Count>
    void weigh(const Tally<Count>& tally, const double* w, int room, double* T) {
        const auto& [q, y, rows, stride, live] = tally;
        const size_t n = live.size();
        if (room == 1) {
            const auto weigh_columns = [&]<int N>(int i) {
                Four sum[N] = {};
                for (size_t l = 0; l < n; ++l) {
                    const Count* row = rows + size_t(live[l]) * stride + i;
                    for (int j = 0; j < N; ++j)
                        sum[j] += w[l] * __builtin_convertvector(load<Vector<Count, 4>>(row + 4 * j), Four);
                }
                for (int j = 0; j < N; ++j) store(T + i + 4 * j, sum[j]);
            };
            int i = 0;
            for (; i + 16 <= stride; i += 16) weigh_columns.template operator()<4>(i);
            for (; i < stride; i += 4) weigh_columns.template operator()<1>(i);
            return;
        }
        for (size_t l = 0; l < n; ++l) std::copy_n(rows + size_t(live[l]) * stride, stride, &rows_[l * stride]);
        for_sets<W>(room, [&]<class Sets>(Sets, int k) {
            for (int i = 0; i < stride; i += 4) {
                Sets sum[4] = {};
                const double* row = &rows_[i];
                for (size_t l = 0; l < n; ++l, row += stride)
                    for (int j = 0; j < 4; ++j) sum[j] += load<Sets>(w + l * room + k) * row[j];
                for (int j = 0; j < 4; ++j) store(T + (i + j) * room + k, sum[j]);
            }
        });
    }

private:
    std::vector<double> rows_;  // of the distances that occur
};

}  // namespace
}  // namespace localbayes
