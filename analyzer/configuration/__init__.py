"""Settings of the scanned tree, suppressions in its comments, and advice on both."""
