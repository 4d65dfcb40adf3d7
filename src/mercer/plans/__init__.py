"""What will be done, and why: pure functions of sizes and the budget.

A plan names a solver, the form in which the matrix is held, the memory at the peak and its reason in words; `kernel`,
`linear` and `local` choose one for each family. No clock and no reading of free memory decides, so that runs repeat.
`seconds` and `pace` foretell how long it takes, `share` how many components a share of the variance needs, and
`fill` how full a sparse factor becomes.
"""
