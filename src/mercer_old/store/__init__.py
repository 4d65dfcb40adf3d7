"""Where fitted models are kept: one file that says what it holds, and proves that it is whole.

A model file is a valid safetensors file (`layout`), whose metadata hold one JSON text: what the model is, by a closed
list of names (`schemas`), and a hash of every tensor and of the header itself. What is stored are public facts, named
one by one; private objects are made anew from them, so that files outlive refactorings. Nothing in a file is ever
imported, called or trusted: sizes are compared with the file before memory is asked for. `files` saves and loads,
`headers` tells what a file says of itself, and `verdicts` looks for what is wrong with it.
"""
