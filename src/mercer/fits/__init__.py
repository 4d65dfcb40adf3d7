"""How an answer is found: from a task to all that a model keeps.

A fit makes a plan, builds the matrix the plan names, has its solver work on it and certifies what comes out; `kernel`,
`linear` and `local` do so for the three families. `door` is the one way in for rows and items, `training` weighs them,
`spectrum` and `scale` are shared, and `working` is what every fit goes on in. No fit knows a model but by its
parameters.
"""
