"""An attack on the certificates: hostile problems whose answers are known to 30 digits, and every statement checked.

`make attack` runs all of them; test_attack.py runs a sample. The library is not trusted anywhere in here: references
are computed from the rows as given, in arithmetic of 106 bits (precise.py), with bounds on their own error (truth.py).
"""
