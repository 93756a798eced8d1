"""Log joints as sums: a base and a term for every attribute."""

import numpy as np
import numpy.typing as npt

from localbayes.classifiers.base import Floats, log_total, or_prior

__all__ = ["defined_terms", "log_ratio", "sum_of_terms"]


def sum_of_terms(base: Floats, terms: Floats) -> tuple[Floats, Floats]:
    """Write the log of a sum of products as one base and one term for every attribute.

    With s_k the share of product k in the sum, the identity ::

        log sum_k exp(base_k + sum_i term_ki)  =  sum_k s_k (base_k - log s_k)  +  sum_i sum_k s_k term_ki

    is exact: attributes keep the mean of their terms, weighted by what each product adds to the sum.

    Parameters
    ----------
    base : ndarray of shape (..., K)
        Log of what no attribute owns.
    terms : ndarray of shape (..., K, m)
        Log of the factor of every attribute.

    Returns
    -------
    base : ndarray of shape (...)
        The base of the sum.
    terms : ndarray of shape (..., m)
        Its terms.

    Examples
    --------
    >>> base, terms = sum_of_terms(np.log([0.5, 0.5]), np.log([[0.2, 0.4], [0.6, 0.1]]))
    >>> float(np.exp(base + terms.sum()).round(9))
    0.07
    """
    parts = base + terms.sum(axis=-1)
    total = log_total(parts)
    with np.errstate(invalid="ignore"):
        # Nothing has a share in a sum that is zero; equal ones keep it so.
        log_share = np.where(np.isneginf(total), -np.log(parts.shape[-1]), parts - total)
        share = np.exp(log_share)
        own = np.where(share > 0, share * (base - log_share), 0.0)
        shared = np.where(share[..., None] > 0, share[..., None] * terms, 0.0)
    return own.sum(axis=-1), shared.sum(axis=-2)


def defined_terms(base: Floats, terms: Floats, class_count: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Leave the prior alone where no class has any probability, as :func:`or_prior` does.

    Parameters
    ----------
    base : ndarray of shape (..., r)
        Base by class.
    terms : ndarray of shape (..., r, m)
        Terms by class and attribute.
    class_count : ndarray of shape (r,)
        Training rows of each class.

    Returns
    -------
    base, terms : ndarray
        Of the same shapes.

    Examples
    --------
    >>> base, terms = defined_terms(np.zeros((1, 2)), np.full((1, 2, 3), -np.inf), np.array([1, 3]))
    >>> base.round(3).tolist(), terms.sum().item()
    ([[-1.386, -0.288]], 0.0)
    """
    joint = base + terms.sum(axis=-1)
    lost = np.isneginf(joint).all(axis=-1, keepdims=True)
    return np.where(lost, or_prior(joint, class_count), base), np.where(lost[..., None], 0.0, terms)


def log_ratio(above: Floats, below: Floats) -> Floats:
    """Log of a relative frequency; nothing out of nothing is impossible.

    Examples
    --------
    >>> log_ratio(np.array([1.0, 0.0]), np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(above / below)
    return np.where(np.isnan(ratio), -np.inf, ratio)
