// The distance of a query and a row: a sum over attributes of small numbers from tables.
//
// For attribute i, query value v and row value u a table gives d_i(v, u), 0 to 7, and an agreement s_i(v, u), 0 to 7,
// which C counts. Hamming's distance has d = 1 and s = 0 for other values, and d = 0 and s = 1 for the same one; it
// needs no tables, and a batch without a Distance uses it.
//
// Rows stay packed by value. With A_i the largest d_i, a row's nearness A_i - d_i(v, u) has three binary digits. The
// rows whose nearness has a digit are the OR of the planes of some values u, and an adder of planes that count 1, 2 and
// 4 sums them up. The agreement has three digits too, each an OR of planes. Recipes say which planes these are.
#pragma once
#include <bit>

#include "layout.hpp"

namespace localbayes {

// Tables as they come: for every attribute q * q numbers [query's value][row's value], or, if it is nominal, two: for
// the same value and for any other.
struct DistanceTables {
    const uint32_t* sizes;
    const uint8_t *d, *s, *nominal;  // nominal may be null: none is
    size_t m, d_size, s_size;
};

class Distance {
public:
    // Throws std::invalid_argument where tables do not fit the sizes, exceed 7, or give a value a distance to itself.
    explicit Distance(const DistanceTables& tables);

    int m() const { return int(attributes_.size()); }
    int n_distances() const { return n_distances_; }
    // A row at the largest distance of all attributes agrees on none.
    bool far_is_unlike() const { return far_is_unlike_; }

    bool nominal(int i) const { return attributes_[i].nominal; }
    uint32_t size(int i) const { return attributes_[i].size; }
    int most(int i) const { return attributes_[i].most; }
    // Columns of C, one per digit of agreement; that of attribute m is the number of all.
    int first_hit(int i) const { return i < m() ? attributes_[i].first_hit : n_hits_; }
    int n_digits(int i) const { return attributes_[i].n_digits; }
    int d(int i, uint32_t v, uint32_t u) const { return d_[at(i, v, u)]; }
    int s(int i, uint32_t v, uint32_t u) const { return s_[at(i, v, u)]; }

private:
    struct Attribute {
        uint32_t size;
        bool nominal;
        int most, n_digits, first_hit;
        size_t first;  // in the tables
    };

    size_t at(int i, uint32_t v, uint32_t u) const {
        const Attribute& a = attributes_[i];
        return a.first + (a.nominal ? v != u : size_t(v) * a.size + u);
    }

    std::vector<Attribute> attributes_;
    std::vector<uint8_t> d_, s_;
    int n_distances_ = 1, n_hits_ = 0;
    bool far_is_unlike_ = true;
};

// Planes of one segment that are OR-ed, and what the result is: digits of the nearness that it is added to, as bits,
// and digits of the agreement.
struct Expression {
    uint32_t first, n;  // in Recipes::planes
    uint8_t nearness, agreement;
};

// For every attribute that is not nominal, and every value that queries have: the expressions of its digits. A value
// that was never seen is one more.
class Recipes {
public:
    // Codes are [query][attribute]. Throws std::invalid_argument where an attribute is neither nominal nor packed by
    // value.
    Recipes(const Distance& distance, const Segment& s, const uint32_t* codes, int64_t n_queries);

    struct Range {
        const Expression *begin, *end;
    };
    Range of(int i, uint32_t code) const {
        const uint32_t* first = &first_[start_[i] + std::min(code, unseen_[i])];
        return {&expressions_[first[0]], &expressions_[0] + first[1]};
    }
    const uint32_t* planes(const Expression& e) const { return &planes_[e.first]; }  // places in a block, in words

private:
    void add(const Distance& distance, const Segment& s, int i, uint32_t v);

    std::vector<size_t> start_;
    std::vector<uint32_t> unseen_, first_, planes_;
    std::vector<Expression> expressions_;
};

}  // namespace localbayes
