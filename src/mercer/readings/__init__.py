"""What an answer says: numbers computed from fitted ones, or from any coordinates.

`components` has the rules for how many to keep, `preimage` the way back from scores to rows, `quality` how much of the
neighbourhoods an embedding keeps (by `ranks` of `distances`), and `columns` what the columns alone tell. A reading
changes nothing. It needs no model, and none of ours.
"""
