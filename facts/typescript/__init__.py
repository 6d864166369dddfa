"""TypeScript: the extractor of JavaScript with another grammar."""
