"""Boxes of individuals: judged, cut in two where they are not decided, and proved. Regions and certified shares are two uses of it."""
