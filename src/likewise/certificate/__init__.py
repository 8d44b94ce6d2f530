"""Certificates: the proof as a file (format: spec/certificate-v1.md). Writes and carries, never checks."""
