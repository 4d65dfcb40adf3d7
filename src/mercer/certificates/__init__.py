"""What is proven about an answer, in numbers and in a few English lines.

`residuals` certifies the largest eigenpairs, `gaps` the smallest, `intervals` what landmarks see; `base` is what all of
them have in common. A certificate asks nobody anything: it is made of measured pairs and of bounds that are handed to
it. Each module begins with the theorem it stands on.
"""
