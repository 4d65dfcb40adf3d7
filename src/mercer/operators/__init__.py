"""The matrix, held or not: symmetric operators for solvers to multiply with.

Every operator answers the questions of `mercer.symmetric`, whether its entries are in memory, evaluated anew or never
formed. Operators and solvers do not know each other. An operator holds data and no settings, and says how far rounding
can have moved what it returns.
"""
