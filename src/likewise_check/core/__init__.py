"""The core: file, claim, tree of cells, and the simple rules. Everything that a family of models adds is in `packs`."""
