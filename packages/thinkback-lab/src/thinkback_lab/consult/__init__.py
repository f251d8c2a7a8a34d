"""The consultation simulator (TiM 000, 3.4; 001, A.2): does memory make a better doctor?"""
