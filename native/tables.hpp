// Loops over plain tables: a row for each node, a column for each class, any number of columns. A row whose first entry
// is NaN belongs to an unreached node.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "powers.hpp"

namespace isotherm {

template <class T>
struct Table {
  const T* data;
  int64_t rows, columns;
  const T* row(int64_t i) const { return data + i * columns; }
};

// Rows that may be a part of wider ones, such as the first columns of a block.
template <class T>
struct Rows {
  T* data;
  int64_t count, columns, stride;
  T* row(int64_t i) const { return data + i * stride; }
};

// Copies each row, plus an offset, to the row of another table that `places` names, or to the same row if places is
// null. Further columns there become 0.
template <class From, class To>
void place_rows(const Rows<const From>& x, const To* offset, const int64_t* places, const Rows<To>& out, int threads) {
  for_chunks(even_chunks(x.count, x.columns), threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    for (int64_t i = begin; i < end; ++i) {
      const From* const from = x.row(i);
      To* const to = out.row(places ? places[i] : i);
      for (int64_t c = 0; c < x.columns; ++c) to[c] = static_cast<To>(from[c]) + offset[c];
      for (int64_t c = x.columns; c < out.columns; ++c) to[c] = 0;
    }
  });
}

// Number of reached rows, then the sums of the columns over them, then the sums of their squares: 1 + 2 K numbers.
template <class T>
std::vector<double> table_moments(const Table<T>& table, int threads) {
  const Chunks chunks = even_chunks(table.rows, 16);  // the sum of a column does not depend on how many others there are
  const int64_t size = 1 + 2 * table.columns;
  std::vector<double> parts(chunks.count() * size);
  for_chunks(chunks, threads, [&](int64_t chunk, int64_t begin, int64_t end) ISOTHERM_INLINE {
    std::vector<double> own(size);
    double* const sum = own.data() + 1;
    double* const square = sum + table.columns;
    for (int64_t i = begin; i < end; ++i) {
      const T* const row = table.row(i);
      if (std::isnan(row[0])) continue;
      own[0] += 1;
      for (int64_t c = 0; c < table.columns; ++c) {
        const double value = row[c];
        sum[c] += value;
        square[c] += value * value;
      }
    }
    std::copy(own.begin(), own.end(), parts.begin() + chunk * size);
  });
  std::vector<double> all(size);
  for (int64_t part = 0; part < chunks.count(); ++part)
    for (int64_t k = 0; k < size; ++k) all[k] += parts[part * size + k];
  return all;
}

// The first column whose entry is within `tie` of the largest of its row; the first NaN if there is one, as in
// numpy.argmax. -1 if unreached.
template <class T>
void best_columns(const Table<T>& table, T tie, int64_t* best, int threads) {
  for_chunks(even_chunks(table.rows, table.columns), threads,
             [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    for (int64_t i = begin; i < end; ++i) {
      const T* const row = table.row(i);
      int64_t found = std::isnan(row[0]) ? -1 : 0;
      for (int64_t c = 1; found >= 0 && c < table.columns && !std::isnan(row[found]); ++c)
        if (!(row[c] <= row[found])) found = c;
      if (found > 0 && !std::isnan(row[found]))
        found = std::find_if(row, row + found, [&](T value) { return value >= row[found] - tie; }) - row;
      best[i] = found;
    }
  });
}

// out = base + block near + times everywhere: multiples of the first columns of a block, and of one more column, added
// to a table. near is (used, K). everywhere is (groups, K); each row takes the row of its group, if it is in one.
template <class T>
void combine(const Table<T>& base, const Table<T>& block, const Table<T>& near, const T* times, const int32_t* group,
             const Table<T>& everywhere, T* out, int threads) {
  constexpr int kTile = 16;  // columns whose sums are in registers
  std::vector<T> multiples((near.rows + everywhere.rows) * kTile);
  for (int64_t first = 0; first < base.columns; first += kTile) {
    const int64_t columns = std::min<int64_t>(kTile, base.columns - first);
    for (int64_t x = 0; x < near.rows + everywhere.rows; ++x)
      std::copy_n((x < near.rows ? near.row(x) : everywhere.row(x - near.rows)) + first, columns,
                  multiples.data() + x * kTile);
    for_block_chunks(even_chunks(base.rows, columns + near.rows), threads,
                     [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
      using Row = isotherm::Row<T, kTile, registers>;
      for (int64_t i = begin; i < end; ++i) {
        Row sum;
        if (group[i] >= 0) sum = Row::at(multiples.data(), near.rows + group[i]) * times[i];
        for (int64_t x = 0; x < near.rows; ++x) sum += Row::at(multiples.data(), x) * block.row(i)[x];
        T sums[kTile];
        sum.put(sums);
        for (int64_t c = 0; c < columns; ++c) out[i * base.columns + first + c] = base.row(i)[first + c] + sums[c];
      }
    });
  }
}

// The best few scores of each row so far, best first; ties go to the class that came first.
struct Best {
  double* scores;    // (rows, keep)
  int32_t* classes;  // (rows, keep)
  double* mass;      // (rows): the sum of exp(score - best score) over all classes so far
  int64_t keep;
};

// Enters the scores of a row, for classes numbered from `first` on, into the best of that row.
template <class T>
ISOTHERM_INLINE inline void enter(const T* row, int64_t columns, int64_t first, double* scores, int32_t* classes,
                                  int64_t keep) {
  for (int64_t c = 0; c < columns; ++c) {
    const double score = row[c];
    int64_t place = keep;
    for (; place > 0 && score > scores[place - 1]; --place)
      if (place < keep) {
        scores[place] = scores[place - 1];
        classes[place] = classes[place - 1];
      }
    if (place < keep) {
      scores[place] = score;
      classes[place] = static_cast<int32_t>(first + c);
    }
  }
}

// Adds the scores of more classes, which are numbered from `first` on. After many classes few scores are among the
// best, so that most of the time goes into the exponentials.
template <class T>
void rank(const Table<T>& table, int64_t first, const Best& best, int threads) {
  for_block_chunks(even_chunks(table.rows, 2 * table.columns), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    const PowerSum<registers, T> sum_of_powers(table.columns);
    for (int64_t i = begin; i < end; ++i) {
      const T* const row = table.row(i);
      if (std::isnan(row[0])) continue;
      double* const scores = best.scores + i * best.keep;
      T highest = row[0];
      for (int64_t c = 1; c < table.columns; ++c) highest = row[c] > highest ? row[c] : highest;
      const double top = std::max<double>(scores[0], highest);
      const double before = scores[0] < top ? best.mass[i] * std::exp(scores[0] - top) : best.mass[i];
      best.mass[i] = before + sum_of_powers(row, top);
      if (highest > scores[best.keep - 1])
        enter(row, table.columns, first, scores, best.classes + i * best.keep, best.keep);
    }
  });
}

// How temperatures become probabilities; src/isotherm/probability/calibration.py explains it.
struct Calibration {
  const double *mean, *shares, *slopes, *covariance, *bias;  // (K), (K), (kinds), (kinds, kinds), (K)
  int64_t kinds;                                             // 3 or 5
  double lapse;
};

// The heat that comes directly from seeds, a sparse table, and the number of neighbours of each node.
struct Surroundings {
  const int64_t* indptr;
  const int32_t* indices;
  const double* direct;
  const double* neighbours;
};

constexpr int64_t kMostKinds = 5;

// The factor by which logits shrink, given the variance of their differences.
inline double trust(double variance, int64_t columns) {
  constexpr double kPi = 3.14159265358979323846;
  return 1 / std::sqrt(1 + kPi / 8 * variance * 2 / static_cast<double>(std::max<int64_t>(1, columns - 1)));
}

inline void centre(double* kind, int64_t columns) {
  double sum = 0;
  for (int64_t c = 0; c < columns; ++c) sum += kind[c];
  for (int64_t c = 0; c < columns; ++c) kind[c] -= sum / static_cast<double>(columns);
}

inline double product(const double* left, const double* right, int64_t columns) {
  double sum = 0;
  for (int64_t c = 0; c < columns; ++c) sum += left[c] * right[c];
  return sum;
}

// The logits (K) of a node beside seeds, before they are shrunk; returns the variance. `evidence` has (kinds + 1) K
// numbers of space.
template <class T>
double logits_beside_seeds(const Calibration& model, const Surroundings& near, int64_t i, const T* row, int64_t columns,
                           double* evidence, double* logits) {
  double* const direct = evidence + kMostKinds * columns;
  const double d = near.neighbours[i], root = std::sqrt(d);
  double all = 0;
  std::fill(direct, direct + columns, 0.0);
  for (int64_t e = near.indptr[i]; e < near.indptr[i + 1]; ++e) {
    direct[near.indices[e]] += near.direct[e];
    all += near.direct[e];
  }
  all = std::min(all, 1.0);
  for (int64_t c = 0; c < columns; ++c) {
    const double t = std::max<double>(row[c], 0), m = model.mean[c], s = model.shares[c];
    const double kinds[kMostKinds] = {
        std::log((d * t + m) / ((d + 1) * m)), t - m, (t - m) * root,
        std::log((d * std::max(t - direct[c], 0.0) + m) / ((d * (1 - all) + 1) * m)),
        std::log((d * direct[c] + s) / ((d * all + 1) * s))};
    logits[c] = model.bias[c];
    for (int64_t k = 0; k < model.kinds; ++k) {
      logits[c] += model.slopes[k] * kinds[k];
      evidence[k * columns + c] = kinds[k];
    }
  }
  double variance = 0;
  for (int64_t k = 0; k < model.kinds; ++k) {
    centre(evidence + k * columns, columns);
    for (int64_t l = 0; l <= k; ++l)
      variance += (k == l ? 1 : 2) * model.covariance[k * model.kinds + l] *
                  product(evidence + k * columns, evidence + l * columns, columns);
  }
  return variance;
}

// The logits of all other nodes. The fourth kind of evidence is equal to the first there, and the fifth is 0, so there
// are only two, the logarithm and the difference. What is equal for all classes is left out.
template <int Bytes>
struct Elsewhere {
  using Lanes = typename Powers<Bytes>::Lanes;
  static constexpr int kLanes = Powers<Bytes>::kLanes;
  int64_t columns, size;
  double slope[3], covariance[6];  // for the logarithm, the difference, and the difference times the root of the degree
  std::vector<double> mean, inverse, bias, real, temperatures, logs, gaps;

  Elsewhere(const Calibration& model, int64_t k)
      : columns(k), size((k + kLanes - 1) / kLanes * kLanes), mean(size), inverse(size), bias(size), real(size),
        temperatures(size), logs(size), gaps(size) {
    for (int64_t c = 0; c < columns; ++c) {
      mean[c] = model.mean[c];
      inverse[c] = 1 / model.mean[c];
      bias[c] = model.bias[c];
      real[c] = 1;
    }
    const auto part = [&](int64_t x, int64_t y) { return model.covariance[x * model.kinds + y]; };
    const bool five = model.kinds > 3;
    slope[0] = model.slopes[0] + (five ? model.slopes[3] : 0);
    slope[1] = model.slopes[1];
    slope[2] = model.slopes[2];
    covariance[0] = part(0, 0) + (five ? 2 * part(0, 3) + part(3, 3) : 0);
    covariance[1] = part(0, 1) + (five ? part(3, 1) : 0);
    covariance[2] = part(0, 2) + (five ? part(3, 2) : 0);
    covariance[3] = part(1, 1);
    covariance[4] = part(1, 2);
    covariance[5] = part(2, 2);
  }

  // Writes the logits of a row, before they are shrunk; returns the variance.
  template <class T>
  ISOTHERM_INLINE double operator()(const T* row, double d, double* logits) {
    for (int64_t c = 0; c < columns; ++c) temperatures[c] = std::max<double>(row[c], 0);
    Lanes log_sum = {}, gap_sum = {};
    for (int64_t c = 0; c < size; c += kLanes) {
      const Lanes t = lanes_at<Bytes>(&temperatures[c]);
      const Lanes log = Logs<Bytes>::of(t * lanes_at<Bytes>(&inverse[c]) * d + 1), gap = t - lanes_at<Bytes>(&mean[c]);
      log_sum += log;
      gap_sum += gap;
      put_lanes(log, &logs[c]);
      put_lanes(gap, &gaps[c]);
    }
    const double mean_log = sum_of(log_sum) / static_cast<double>(columns);
    const double mean_gap = sum_of(gap_sum) / static_cast<double>(columns);
    const double root = std::sqrt(d), by_gap = slope[1] + root * slope[2];
    Lanes squares[3] = {};
    for (int64_t c = 0; c < size; c += kLanes) {
      const Lanes here = lanes_at<Bytes>(&real[c]);
      const Lanes log = (lanes_at<Bytes>(&logs[c]) - mean_log) * here, gap = (lanes_at<Bytes>(&gaps[c]) - mean_gap) * here;
      squares[0] += log * log;
      squares[1] += log * gap;
      squares[2] += gap * gap;
      put_lanes(lanes_at<Bytes>(&bias[c]) + log * slope[0] + gap * by_gap, logits + c);
    }
    return covariance[0] * sum_of(squares[0]) + 2 * (covariance[1] + root * covariance[2]) * sum_of(squares[1]) +
           (covariance[3] + 2 * root * covariance[4] + d * covariance[5]) * sum_of(squares[2]);
  }
};

// The probabilities of all classes at each node; 0 where unreached.
template <class T>
void chances(const Table<T>& table, const Surroundings& near, const Calibration& model, double* out, int threads) {
  const int64_t columns = table.columns;
  for_block_chunks(even_chunks(table.rows, 16 * columns), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    std::vector<double> evidence((kMostKinds + 1) * columns);
    PowerRow<registers> powers(columns);
    Elsewhere<registers> elsewhere(model, columns);
    std::vector<double> logs(powers.logits);  // logarithms of the shares; minus infinity where there is no class
    for (int64_t c = 0; c < columns; ++c) logs[c] = std::log(model.shares[c]);
    double* const logits = powers.logits.data();
    for (int64_t i = begin; i < end; ++i) {
      double* const to = out + i * columns;
      const T* const row = table.row(i);
      if (std::isnan(row[0])) {
        std::fill(to, to + columns, 0.0);
        continue;
      }
      const double variance =
          near.indptr[i + 1] > near.indptr[i]
              ? logits_beside_seeds(model, near, i, row, columns, evidence.data(), logits)
              : elsewhere(row, near.neighbours[i], logits);
      const double factor = trust(variance, columns);
      for (int64_t c = 0; c < columns; ++c) logits[c] = logs[c] + logits[c] * factor;
      std::copy(logs.begin() + columns, logs.end(), logits + columns);
      const double scale = (1 - model.lapse) / powers.raise();
      for (int64_t c = 0; c < columns; ++c) to[c] = scale * logits[c] + model.lapse * model.shares[c];
    }
  });
}

// Log-odds of probabilities, which are at least `least`, against the shares of the classes, whose logarithms are given;
// at most `limit` in size. 0 in a row of zeros.
template <class T>
void odds_of(const Table<T>& chances, const double* shares, double least, double limit, float* out, int threads) {
  const int64_t columns = chances.columns;
  for_block_chunks(even_chunks(chances.rows, 4 * columns), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    constexpr int kLanes = Powers<registers>::kLanes;
    std::vector<double> room((columns + kLanes - 1) / kLanes * kLanes, 1.0);
    for (int64_t i = begin; i < end; ++i) {
      const T* const row = chances.row(i);
      double sum = 0;
      for (int64_t c = 0; c < columns; ++c) sum += row[c];
      for (int64_t c = 0; c < columns; ++c) room[c] = std::max<double>(row[c], least);
      for (size_t c = 0; c < room.size(); c += kLanes)
        put_lanes(Logs<registers>::of(lanes_at<registers>(&room[c])), &room[c]);
      for (int64_t c = 0; c < columns; ++c)
        out[i * columns + c] = sum > 0 ? static_cast<float>(std::clamp(room[c] - shares[c], -limit, limit)) : 0;
    }
  });
}

// The class that a decision takes at each node. Its score is probability times weight times factor. The first class
// wins whose score is within `tie` times the sum of scores of the largest; -1 in a row of zeros. Factors are limited to
// `most` times the factor of the class with the largest probability times weight.
inline void decide(const Table<double>& chances, const double* weights, const double* factors, double most, double tie,
                   int64_t* best, int threads) {
  const int64_t columns = chances.columns;
  for_chunks(even_chunks(chances.rows, 2 * columns), threads, [&](int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    std::vector<double> scores(columns);
    for (int64_t i = begin; i < end; ++i) {
      const double* const row = chances.row(i);
      int64_t usual = 0;
      for (int64_t c = 0; c < columns; ++c) {
        scores[c] = row[c] * weights[c];
        if (scores[c] > scores[usual]) usual = c;
      }
      double sum = 0, top = 0;
      for (int64_t c = 0; c < columns; ++c) {
        scores[c] *= std::min(factors[c] / factors[usual], most);
        sum += scores[c];
        top = std::max(top, scores[c]);
      }
      const double enough = top - tie * sum;
      int64_t found = 0;
      while (scores[found] < enough) ++found;
      best[i] = sum > 0 ? found : -1;
    }
  });
}

// Log-odds against the shares of the classes, whose logarithms are given, from logits; at most `limit` in size. 0 in a
// row that begins with NaN.
template <class T>
void log_odds(const Table<T>& logits, const double* shares, double limit, T* out, int threads) {
  const int64_t columns = logits.columns;
  for_block_chunks(even_chunks(logits.rows, 4 * columns), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    const PowerSum<registers, T> sum_of_powers(columns);
    for (int64_t i = begin; i < end; ++i) {
      const T* const row = logits.row(i);
      T* const to = out + i * columns;
      const double top = *std::max_element(row, row + columns);
      const double total = top + std::log(sum_of_powers(row, top));
      for (int64_t c = 0; c < columns; ++c)
        to[c] = std::isnan(total) ? 0 : static_cast<T>(std::clamp(row[c] - total - shares[c], -limit, limit));
    }
  });
}

// Probabilities from the weighted sum of the log-odds of experts, (experts, rows, K), and the logarithms of the shares.
template <class T>
void mix(const T* odds, const double* weights, int64_t experts, const double* shares, int64_t rows, int64_t columns,
         double* out, int threads) {
  for_block_chunks(even_chunks(rows, (experts + 3) * columns), threads,
                   [&](auto registers, int64_t, int64_t begin, int64_t end) ISOTHERM_INLINE {
    PowerRow<registers> powers(columns);
    double* const logits = powers.logits.data();
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(shares, columns, logits);
      for (int64_t e = 0; e < experts; ++e)
        for (int64_t c = 0; c < columns; ++c) logits[c] += weights[e] * odds[(e * rows + i) * columns + c];
      const double total = powers.raise();
      for (int64_t c = 0; c < columns; ++c) out[i * columns + c] = logits[c] / total;
    }
  });
}

}  // namespace isotherm
