"""The operator of a stored graph on blocks of vectors: a product is a pass over the blocks."""

import numpy as np

from kgroups._types import Bools, Floats
from kgroups.blocks.engines import Engine, one_pass
from kgroups.blocks.store import StoredGraph
from kgroups.blocks.tasks import multiplied
from kgroups.spectrum.chebyshev import MappedOperator, ThinBlock


class StoredOperator(MappedOperator):
    """The operator P of a component of a stored graph.

    ``diagonal`` is that of the Bethe Hessian, and ``factor`` what its coupling is multiplied by.
    Nodes outside the component, where ``inside`` is False, have no weight in inner products.
    """

    def __init__(
        self,
        store: StoredGraph,
        engine: Engine,
        diagonal: Floats,
        factor: float,
        inside: Bools | None,
        lowest: float,
    ) -> None:
        weight = diagonal.astype(np.float32)
        if inside is not None:
            weight[~inside] = 0.0
        super().__init__(weight, lowest=lowest)
        self._store, self._engine, self._inside = store, engine, inside
        self._scale = engine.publish((self._stretch * factor / diagonal).astype(np.float32))

    @property
    def n(self) -> int:
        """Number of nodes of the component."""
        return self.weight.size if self._inside is None else int(np.count_nonzero(self._inside))

    def matmat(
        self, X: ThinBlock, out: ThinBlock, *, alpha: float = 1.0, beta: float = 0.0
    ) -> None:
        """Set ``out = alpha P X + beta out``; X and out must not overlap."""
        blocks = self._store.blocks
        given = self._engine.publish(X), self._scale
        before = self._engine.publish(out) if beta else None
        factors = float(alpha), self._shift, float(beta)
        products = one_pass(self._engine, multiplied, len(blocks), *given, before, *factors)
        for block, rows in zip(blocks, products, strict=True):
            out[block.first : block.last] = rows
        self.visits += self._store.entries

    def random_block(self, columns: int, rng: np.random.Generator) -> ThinBlock:
        """Return columns of random signs, of squared length n in the inner product."""
        if self._inside is None:
            return super().random_block(columns, rng)
        with np.errstate(divide="ignore", invalid="ignore"):
            block = super().random_block(columns, rng)
        block[~self._inside] = 0.0
        return block
