"""Models as graphs of ONNX operators, which run without Python and without mercer.

`graph` grows a graph node by node and is the one file that knows the package onnx. `kernels` has a function for each
kernel, `features` one for each explicit map, `linear`, `kernel` and `local` one for each family of models, and `export`
puts a file together. Numbers are those of `transform`; tests ask onnxruntime.
"""
