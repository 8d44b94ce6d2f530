"""Combined family: the mean, largest or smallest of several scores, as repairs make them."""
