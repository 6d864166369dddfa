"""From facts to derived relations: which rules, compiled and evaluated how."""
