"""From derived relations to the findings of a report."""
