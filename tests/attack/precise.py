"""Numbers of 106 bits as unevaluated sums hi + lo of two float64: enough to judge what float64 claims about itself.

Sums and products are error-free transformations (Dekker 1971, Knuth), so nothing here depends on the processor.
Products of matrices are sums of products of slices of a few bits each, which BLAS multiplies without any rounding, in
whatever order it likes (Ozaki, Ogita, Oishi and Rump 2012).
"""

from math import ceil, log2

import numpy as np

BITS = 106
UNIT = 2.0**-104  # error of one operation, relative to its result, with room to spare
SPLITTER = 2.0**27 + 1
LN2 = (0.6931471805599453, 2.3190468138462996e-17)


class DD:
    """An array of double-double numbers."""

    __slots__ = ("hi", "lo")
    __array_ufunc__ = None  # numpy leaves operators to us

    def __init__(self, hi, lo=0.0):
        self.hi = np.asarray(hi, dtype=np.float64)
        lo = np.asarray(lo, dtype=np.float64)
        self.lo = lo if lo.shape == self.hi.shape else np.broadcast_to(lo, self.hi.shape)

    @property
    def shape(self):
        return self.hi.shape

    @property
    def T(self):
        return DD(self.hi.T, self.lo.T)

    def __len__(self):
        return len(self.hi)

    def __getitem__(self, key):
        return DD(self.hi[key], self.lo[key])

    def __float__(self):
        return float(self.hi + self.lo)

    def __neg__(self):
        return DD(-self.hi, -self.lo)

    def __abs__(self):
        sign = np.where(self.hi < 0, -1.0, 1.0)
        return DD(sign * self.hi, sign * self.lo)

    def __add__(self, other):
        other = as_dd(other)
        s, e = two_sum(self.hi, other.hi)
        t, f = two_sum(self.lo, other.lo)
        s, e = quick_two_sum(s, e + t)
        return DD(*quick_two_sum(s, e + f))

    def __sub__(self, other):
        return self + (-as_dd(other))

    def __mul__(self, other):
        other = as_dd(other)
        p, e = two_product(self.hi, other.hi)
        return DD(*quick_two_sum(p, e + (self.hi * other.lo + self.lo * other.hi)))

    def __truediv__(self, other):
        other = as_dd(other)
        first = self.hi / other.hi
        rest = self - other * first
        second = rest.hi / other.hi
        rest = rest - other * second
        return DD(*quick_two_sum(first, second)) + rest.hi / other.hi

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return as_dd(other) - self

    def __rtruediv__(self, other):
        return as_dd(other) / self

    def __matmul__(self, other):
        return matmul(self, as_dd(other))

    def scaled(self, exponent):
        """Times 2^exponent, exactly."""
        return DD(np.ldexp(self.hi, exponent), np.ldexp(self.lo, exponent))

    def sum(self, axis=0):
        """Pairwise along an axis, or over everything."""
        if axis is None:
            return DD(self.hi.ravel(), self.lo.ravel()).sum()
        part = DD(np.moveaxis(self.hi, axis, 0), np.moveaxis(self.lo, axis, 0))
        if not len(part):
            return DD(np.zeros(part.shape[1:]))
        while len(part) > 1:
            half = len(part) // 2
            paired = part[:half] + part[half : 2 * half]
            part = concatenate([paired, part[2 * half :]]) if len(part) % 2 else paired
        return part[0]


def as_dd(value):
    return value if isinstance(value, DD) else DD(value)


def concatenate(parts, axis=0):
    parts = [as_dd(part) for part in parts]
    return DD(np.concatenate([p.hi for p in parts], axis), np.concatenate([p.lo for p in parts], axis))


def where(condition, one, other):
    one, other = as_dd(one), as_dd(other)
    return DD(np.where(condition, one.hi, other.hi), np.where(condition, one.lo, other.lo))


# ---------------------------------------------------------------------- without any error


def two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def quick_two_sum(a, b):
    """The same for |a| ≥ |b|."""
    s = a + b
    return s, b - (s - a)


def split(a):
    t = SPLITTER * a
    high = t - (t - a)
    return high, a - high


def two_product(a, b):
    p = a * b
    (a1, a2), (b1, b2) = split(a), split(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


# ---------------------------------------------------------------------- functions


def sqrt(x):
    """One Newton step from the root of hi; zero stays zero."""
    root = np.sqrt(x.hi)
    safe = np.where(root > 0, root, 1.0)
    correction = (x - DD(*two_product(root, root))).hi / (2 * safe)
    return where(root > 0, DD(*quick_two_sum(root, correction)), 0.0)


def expm1(x):
    """eˣ − 1: Taylor's series of x/2⁶ (less a multiple of log 2), doubled six times as (1 + s)² − 1 = 2s + s²."""
    powers = np.rint(x.hi / LN2[0])
    small = (x - DD(*LN2) * powers).scaled(-6)
    term = s = small
    for i in range(2, 13):
        term = term * small / float(i)
        s = s + term
    for _ in range(6):
        s = s * 2.0 + s * s
    factor = np.ldexp(1.0, np.maximum(powers, -1000).astype(int))
    return s * factor + (DD(factor) - 1.0)


def exp(x):
    return expm1(x) + 1.0


def log1p(x):
    """Of x ≥ 0: roots until x is small, then Newton's step (1 + x)e^−y − 1 from what numpy says."""
    x, halvings = as_dd(x), 0
    while float(x.hi.max(initial=0.0)) > 0.5:
        x, halvings = x / (sqrt(x + 1.0) + 1.0), halvings + 1
    y = DD(np.log1p(x.hi))
    for _ in range(2):
        decay = expm1(-y)
        rest = decay + x + decay * x
        y = y + (rest - rest * rest * 0.5)
    return y * 2.0**halvings


def tanh(x):
    s = expm1(abs(x) * -2.0)  # 1 − e^−2|x| = −s
    value = -s / (s + 2.0)
    return where(x.hi < 0, -value, value)


# ---------------------------------------------------------------------- products of matrices


def slices(A, width, count):
    """A = 2^scale · Σᵢ 2^(−width·i)·Qᵢ by rows, every Q whole numbers of at most `width` bits."""
    peak = np.abs(A.hi).max(axis=1, keepdims=True, initial=0.0)
    scale = np.where(peak > 0, np.frexp(np.where(peak > 0, peak, 1.0))[1], 0)
    hi, lo, parts = np.ldexp(A.hi, -scale), np.ldexp(A.lo, -scale), []
    for i in range(1, count + 1):
        q = np.rint(np.ldexp(hi, width * i))
        parts.append(q)
        hi, lo = two_sum(hi - np.ldexp(q, -width * i), lo)  # the difference has no rounding: its last bit is that of hi
    return parts, scale


def matmul(A, B):
    """A B: products of slices that belong to the same power of two are summed by BLAS, without rounding."""
    inner = A.shape[1]
    width = (53 - ceil(log2(8 * max(inner, 1)))) // 2
    count = ceil((BITS + 4) / width)
    left, by_rows = slices(A, width, count)
    right, by_columns = slices(B.T, width, count)
    total = DD(np.zeros((A.shape[0], B.shape[1])))
    for last in range(count, 0, -1):
        one, other = np.concatenate(left[:last], axis=1), np.concatenate(right[last - 1 :: -1], axis=1)
        total = total + np.ldexp(one @ other.T, -width * (last + 1))
    return total.scaled(by_rows + by_columns.T)
