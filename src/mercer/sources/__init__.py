"""Where items come from: memory, files, tables.

`items` is the contract: n things that can be counted, cut into blocks, taken by number and read again and again. `held`
has those in memory, `npy`, `tables` and `delimited` read files block by block, and `files` opens whatever a path names.
Whatever is wrong with a file is said in one sentence with its row and column.
"""
