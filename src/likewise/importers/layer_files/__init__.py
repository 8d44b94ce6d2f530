"""Networks that are lists of layers, of PyTorch and Keras: read as graphs of the operators that ONNX files have, without either library."""
