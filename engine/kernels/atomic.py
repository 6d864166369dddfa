"""What kernels do to memory that several threads write, in one step."""

from engine.kernels.compiled_kernel import Instruction

compare_and_swap = Instruction("compare_and_swap")
"""compare_and_swap(array, at, expected, value) puts a value where the expected one is; returns what was there."""
