"""Opaque family: models that can be asked and not read. Whatever is said of them rests on their own answers; nothing is proved."""
