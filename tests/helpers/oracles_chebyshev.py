"""Reference versions of the Chebyshev methods, from dense float64 eigenvectors."""

import numpy as np


def chebyshev(order, x):
    """Return T_order(x) for any real x."""
    size = np.maximum(np.abs(x), 1.0)
    outside = np.cosh(order * np.arccosh(size)) * np.where(x < 0, (-1.0) ** order, 1.0)
    return np.where(np.abs(x) <= 1.0, np.cos(order * np.arccos(np.clip(x, -1, 1))), outside)


def moments_above(hessian, block, highest, *, lowest=-1.0):
    """Return the moments of orders 0, 2, ... for given start vectors of the operator P."""
    lam, V = np.linalg.eigh(hessian.normalized_matrix().toarray())
    g = np.sqrt(hessian.diagonal)[:, None] * block.astype(float)
    weights = np.mean((V[:, :-1].T @ g) ** 2, axis=1)
    rest = 1.0 - 2.0 * (1.0 - lam[:-1]) / (1.0 - lowest)
    return [
        float(weights @ (chebyshev(2 * q, rest) * (1.0 + rest) / 2.0)) for q in range(highest + 1)
    ]


def right_operator(hessian):
    return hessian.coupling_matrix().toarray() / hessian.diagonal[:, None]
