"""TypeScript with JSX: the extractor of JavaScript with another grammar."""
