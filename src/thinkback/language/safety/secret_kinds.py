"""The kinds of secrets, as redaction marks name them."""

from __future__ import annotations

API_KEY, TOKEN, PRIVATE_KEY, PASSWORD = "api key", "token", "private key", "password"
PIN, CARD, ACCOUNT = "pin", "card number", "account number"
IDENTITY, SSN = "identity number", "social security number"
PHRASE_KIND, SECRET = "recovery phrase", "secret"
SECRET_KINDS = (
    API_KEY,
    TOKEN,
    PRIVATE_KEY,
    PASSWORD,
    PIN,
    CARD,
    ACCOUNT,
    IDENTITY,
    SSN,
    PHRASE_KIND,
    SECRET,
)

SecretMatch = tuple[int, int, str]  # start, end, kind
