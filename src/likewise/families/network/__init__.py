"""Feed-forward neural networks: layers of weighted sums, each bent by an activation, over the columns of the embedding."""
