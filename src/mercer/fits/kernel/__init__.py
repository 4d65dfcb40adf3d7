"""Fits of a kernel: components of the centred kernel matrix.

`task` says what is asked for and what is found, `matrix` holds the kernel matrix as the plan says. `certified` finds
components each with its residual. `landmarks` finds what some rows see of all others.
"""
