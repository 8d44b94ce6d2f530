"""Verify: from a fitted model and a claim to a verdict."""

from likewise.verifying.verification import verify

__all__ = ["verify"]
