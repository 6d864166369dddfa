"""The live process: the relations of one directory, kept up to date as its files and an editor's texts change."""
