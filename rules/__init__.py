"""The bundled Datalog: analyses (`lib/`), library models (`models/`) and checks (`checks/`), and their catalogue.

What flows in: nothing but these files and a user's own. What flows out: program text and metadata per check.
This package imports none of our other packages.
"""
