"""Fits of neighbourhoods: coordinates that neighbours agree on.

`task` says what is asked for, `neighborhoods` finds who is near whom, `embedding` turns that into coordinates with a
certificate. `placing` finds the places of new items. The graph is looked at before it is embedded, and what is wrong
with it is said.
"""
