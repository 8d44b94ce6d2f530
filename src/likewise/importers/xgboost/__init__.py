"""XGBoost: `ubj` and `stored` read a saved model without the library, `evaluated` runs it as the library does, `forest` makes the
tree ensemble of it."""
