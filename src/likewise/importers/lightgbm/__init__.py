"""LightGBM: `stored` reads a saved model without the library, `answers` asks the library or runs it as the library does, `forest` makes the tree
ensemble of it."""
