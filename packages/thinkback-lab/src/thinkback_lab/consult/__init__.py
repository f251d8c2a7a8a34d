"""Simulator of medical consultations (TiM (EMNLP), 3.4; TiM (ACL), A.2): does memory make a better doctor?"""
