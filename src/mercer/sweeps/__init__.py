"""What one pass over the rows sums up.

An accumulator takes in blocks, and two of them merge into one that has seen the rows of both: `scatter` is the
contract, and `square`, `triangle` and `spread` are what may be kept. `lanes` deals blocks out so that sums are the same
to the last bit on any number of threads. `landmarks` sums up what a few rows see of all others.
"""
