"""Where the files of a scan come from: trees, git, ignore files, and safe access to what strangers have written."""
