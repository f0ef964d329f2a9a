// The program that a device runs, in OpenCL C.
#pragma once

namespace rota::accel_opencl {

// Two kernels that multiply, with the same arguments: by rows for cores, whose caches they fill with 16 rows of a; by
// tiles for a GPU, whose work items share tiles of 64 x 64. Entry (p, j) of b is b[p b_row + j b_column].
inline constexpr int kRowsOfItem = 16;
inline constexpr int kColumnsOfItem = 96;
inline constexpr int kTile = 64;
inline constexpr int kItemsOfSide = 16;

inline constexpr const char* kKernels = R"(
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define ARGUMENTS int rows, int columns, int inner, double alpha, \
  global const double* a, ulong a_at, int a_stride, \
  global const double* b, ulong b_at, int b_row, int b_column, \
  double beta, global double* c, ulong c_at, int c_stride
#define DEPTH 128
#define WIDTH 96

kernel void multiply_by_rows(ARGUMENTS) {
  const int i = get_global_id(0) * 16, first = get_global_id(1) * WIDTH;
  const int mine = min(16, rows - i), end = min(columns, first + WIDTH);
  double16 slice[DEPTH];
  if (mine <= 0) return;
  a += a_at + i;
  b += b_at;
  c += c_at + i;
  for (int begin = 0; begin < inner; begin += DEPTH) {
    const int depth = min(DEPTH, inner - begin);
    const double kept = begin == 0 ? beta : 1.0;
    for (int p = 0; p < depth; ++p) {
      global const double* column = a + (ulong)(begin + p) * a_stride;
      if (mine == 16) {
        slice[p] = vload16(0, column);
      } else {
        double some[16];
        for (int r = 0; r < 16; ++r) some[r] = r < mine ? column[r] : 0;
        slice[p] = vload16(0, some);
      }
    }
    for (int j = first; j < end; j += 4) {
      const int wide = min(4, end - j);
      global const double* b0 = b + (ulong)begin * b_row + (ulong)j * b_column;
      global const double* b1 = wide > 1 ? b0 + b_column : b0;
      global const double* b2 = wide > 2 ? b1 + b_column : b0;
      global const double* b3 = wide > 3 ? b2 + b_column : b0;
      double16 sum[4] = {0, 0, 0, 0};
      for (int p = 0; p < depth; ++p) {
        const ulong at = (ulong)p * b_row;
        sum[0] = fma(slice[p], (double16)b0[at], sum[0]);
        sum[1] = fma(slice[p], (double16)b1[at], sum[1]);
        sum[2] = fma(slice[p], (double16)b2[at], sum[2]);
        sum[3] = fma(slice[p], (double16)b3[at], sum[3]);
      }
      for (int q = 0; q < wide; ++q) {
        global double* into = c + (ulong)(j + q) * c_stride;
        if (mine == 16) {
          const double16 old = kept == 0 ? (double16)0 : kept * vload16(0, into);
          vstore16(old + alpha * sum[q], 0, into);
        } else {
          double some[16];
          vstore16(sum[q], 0, some);
          for (int r = 0; r < mine; ++r) into[r] = (kept == 0 ? 0 : kept * into[r]) + alpha * some[r];
        }
      }
    }
  }
}

#define TILE 64
#define SIDE 16

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void multiply_by_tiles(ARGUMENTS) {
  local double left[SIDE][TILE], right[SIDE][TILE];
  const int x = get_local_id(0), y = get_local_id(1);
  const int top = get_group_id(0) * TILE, first = get_group_id(1) * TILE;
  double sum[4][4];
  for (int u = 0; u < 4; ++u)
    for (int v = 0; v < 4; ++v) sum[u][v] = 0;
  a += a_at;
  b += b_at;
  c += c_at;
  for (int begin = 0; begin < inner; begin += SIDE) {
    for (int k = y * SIDE + x; k < TILE * SIDE; k += SIDE * SIDE) {
      const int side = k % TILE, p = k / TILE;
      const bool there = begin + p < inner;
      left[p][side] = there && top + side < rows ? a[top + side + (ulong)(begin + p) * a_stride] : 0;
      right[p][side] =
          there && first + side < columns ? b[(ulong)(begin + p) * b_row + (ulong)(first + side) * b_column] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < SIDE; ++p)
      for (int u = 0; u < 4; ++u)
        for (int v = 0; v < 4; ++v) sum[u][v] = fma(left[p][x + SIDE * u], right[p][y + SIDE * v], sum[u][v]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int v = 0; v < 4; ++v)
    for (int u = 0; u < 4; ++u) {
      const int i = top + x + SIDE * u, j = first + y + SIDE * v;
      if (i >= rows || j >= columns) continue;
      global double* into = c + i + (ulong)j * c_stride;
      *into = (beta == 0 ? 0 : beta * *into) + alpha * sum[u][v];
    }
}

kernel void swap_rows(global double* a, ulong a_at, int n, int first, int count, global const int* pivots) {
  const int column = get_global_id(0);
  if (column >= n || (column >= first && column < first + count)) return;
  global double* rows = a + a_at + (ulong)column * n + first;
  for (int i = 0; i < count; ++i) {
    const int other = pivots[i] - 1;
    const double kept = rows[i];
    rows[i] = rows[other];
    rows[other] = kept;
  }
}
)";

}  // namespace rota::accel_opencl
