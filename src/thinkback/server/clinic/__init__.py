"""The clinic of the web page: a patient's record, read from the thoughts and turns of one space.

It supports and does not replace a clinician: everything in the record quotes what the patient said.
"""
