"""ONNX files: networks of known operators, read as layers of weights without running any code of the file."""
