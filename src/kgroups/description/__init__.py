r"""The objective: nats that communities save in the description of a graph.

With :math:`E_c` edges inside, degrees :math:`K_c` and :math:`N_c` nodes of community c, with
:math:`P_c = K_c^2 / 4m` edges expected inside by degrees alone, and the same outside,

.. math:: \Phi = \sum_c \Bigl[E_c \ln\frac{E_c}{P_c} - E_c + P_c\Bigr]_{E_c > P_c}
    + \Bigl[E_{out} \ln\frac{E_{out}}{P_{out}} - E_{out} + P_{out}\Bigr]_{E_{out} < P_{out}}
    - \sum_c \ln\Bigl(\min\bigl(\tbinom{N_c}{2}, m\bigr) + 1\Bigr)
    - \ln\frac{n!}{\prod_c N_c!} - \ln\binom{n-1}{k-1} + \ln k!

It is derived in docs/theory.md. One community saves 0.
"""
