"""Sources of a scan's files: trees, git, ignore files, and safe access to untrusted files."""
