"""Who finds eigenvectors: of a symmetric matrix that is known by its answers.

Each solver holds settings and no data, and its docstring says which questions of `mercer.symmetric` it asks. What it
returns was measured: values, vectors, residuals and what was seen beyond them. Solvers do not know operators, and judge
nothing: whether a pair was missed is asked by `completeness`, what is proven by `mercer.certificates`.
"""
