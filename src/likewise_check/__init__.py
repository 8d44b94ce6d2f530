"""The independent checker of certificates: standard library only, and nothing of `likewise`.

The name is reserved here; the checker itself comes with the certificate format.
"""
