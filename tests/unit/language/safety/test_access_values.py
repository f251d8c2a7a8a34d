"""Values that give access, told without a label, and numbers that only look like them."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from thinkback.language.safety import quarantine
from thinkback.language.safety.access_values import find_candidates
from thinkback.language.safety.concept_table import fold
from thinkback.language.safety.detector import find_access_values
from thinkback.language.safety.scan import scan_text

SECRETS = {
    "The caretaker said the roof hatch goes with 7315.": "7315",
    "My storage place off the ring road wants 88412 at the gate, then drive straight in.": "88412",
    "Grandad's tin box spins to 9, 27, 41.": "9, 27, 41",
    "when you feed the rabbits the hutch padlock is set to 618": "618",
    "my phone? just do 090817, it never changes": "090817",
    "I'm on the school portal as dkhan, followed by MarbleFox_21.": "MarbleFox_21",
    "Barclays just pinged me 447 201 to approve it.": "447 201",
    "my Tesco card is three nine oh two at the till": "three nine oh two",
    "For the safe deposit the lady asks a word and I say thimble.": "thimble",
    "Please keep this for me: spare key tin, 4-1-9-9.": "4-1-9-9",
    "Joining the VPN needs my name then sunny-harbour-tractor-12.": "sunny-harbour-tractor-12",
    "The garage has a new lock. It's 4471 now.": "4471",
    "小区东门晚上十点以后按 5820 井号。": "5820",
    "我妈那张邮政卡取钱是 740218。": "740218",
    "接豆豆的时候老师会问暗号，说“海绵宝宝”。": "海绵宝宝",
    "老家院子大门的锁是三八二七。": "三八二七",
    "大樓一樓的門按 7788 再按米字號": "7788",
    "门禁 passcode 是 9021，别外传。": "9021",
    "Die Gartenlaube geht mit 4718 auf.": "4718",
    "La box wifi demande lavande_soleil7.": "lavande_soleil7",
    "The hut's router lets you on once you type mosscathedral, small letters.": "mosscathedral",
    "Reception spelled it as tango nine kilo two for the roof door.": "tango nine kilo two",
    "The building's side door takes 6182 after dark.": "6182",
    "You can share 7350 with the dog walker, it opens the porch.": "7350",
    "Get the skis from the parcel locker, it wants 2806.": "2806",
    "取快递柜的包裹按 3917 就行。": "3917",
    "the flat door is set for 4471": "4471",
    "i got a new safe, 8823 opens it": "8823",
    "we bought a padlock for the shed, 4471": "4471",
    "i got my new bank card today, 7391 is what the machine wants": "7391",
    "The bank gave me 3605 for the new fuel card and I kept it.": "3605",
    "买了个保险箱，8823能开": "8823",
}
HARMLESS = [
    "The roof hatch is 73 cm wide, so the chest won't fit.",
    "My storage place off the ring road costs 88 a month.",
    "The rabbit hutch cost 618 kroner.",
    "My phone has 9081 unread mails.",
    "The caravan park has 2291 pitches.",
    "It's 6203 steps to the lighthouse, tell Jamie.",
    "Room 4199 is on the fourth floor.",
    "Flight EK 4916 boards at gate 33.",
    "The chicken coop holds seven hens, one rooster and nine chicks.",
    "My maiden name is Threlfall and I kept it.",
    "The internet is fifty fifty about ice.",
    "We rented a studio near the gate, 875.",
    "bought the ipad, got it for 1390 at fnac",
    "the mechanic says the scooter is gone and quoted 2400",
    "got the polo he took 2750 cash",
    "joined the driving school online, $40/hr",
    "打工在便利店，时薪1150",
    "小区东门晚上十点关。",
    "iPad 花了 3366 块。",
    "豆豆最喜欢海绵宝宝。",
    "提款機昨天壞了，我等了 36 分鐘。",
    "Die Gartenlaube kostet 4718 Euro Pacht.",
    "Le train 4512 part à 7h18.",
    "Our postcode is 20457 and the gate is green.",
    "The caretaker's extension is 4471, ask him about the door.",
    "物业分机是6120，门坏了找他。",
    "I changed my number, it's 07911 448201 now.",
    "The door company's promo code was OAKS20, on every flyer.",
    "turn 3 by reader-2 (text alone): new login",
    "My nickname on the forum is foxglove71.",
    "An unlikely grandstepdaughter opened the door.",
    "骗子让我报验证码，我没理。",
]


@pytest.mark.parametrize("text", SECRETS)
def test_value_that_gives_access_is_redacted(text: str) -> None:
    redacted = quarantine.redact(text)
    assert SECRETS[text] not in redacted
    assert quarantine.REDACTION_MARK.sub("", redacted).strip(" .,")  # the sentence stays readable


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_value_is_kept(text: str) -> None:
    assert scan_text(text).secrets == ()


def test_words_about_access_are_folded_and_not_repeated() -> None:
    tables = tomllib.loads(files("thinkback.language.safety").joinpath("access.toml").read_text("utf-8"))
    assert set(tables) == {"object", "action", "label", "telling", "theme", "other"}
    for table, concepts in tables.items():
        for name, words in concepts.items():
            listed = words.split()
            assert listed == [*dict.fromkeys(fold(words).split())], (table, name)
            assert all(len(word) > 3 for word in listed if word.endswith("*")), (table, name)


def test_candidate_is_no_evidence_for_itself() -> None:
    assert [*find_candidates("iPhone")] == [*find_candidates("update-en-phone-01")] == []


def test_known_secrets_are_not_scored_again() -> None:
    text = "The gate opens with 4471 and the shed with 5512."
    (first, second) = find_access_values(text, [])
    assert [text[slice(*each)] for each in (first, second)] == ["4471", "5512"]
    assert [*find_access_values(text, [first])] == [second]


def test_many_values_cannot_hide_one() -> None:
    text = "The hall is 312 m long, the gate is 77 m away. " * 60 + "The gate opens with 4471."
    assert "4471" not in quarantine.redact(text)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("my card got replaced, my new number is 4111 1111 1111 1111, exp 04/29", "4111 1111 1111 1111"),
        ("my number is 5555555555554444", "5555555555554444"),
        ("my password is kiesel:42", "kiesel:42"),
        ("my password is enter_my_secret_pass", "enter_my_secret_pass"),
        ("the authenticator key is JBSW Y3DP EHPK 3PXP", "JBSW Y3DP EHPK 3PXP"),
    ],
)
def test_a_label_of_something_else_hides_no_secret(text: str, secret: str) -> None:
    assert secret not in quarantine.redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "the wifi is down, they said that they will send help on may 3",
        "my password manager broke and they said that they will come over at 4",
        "LAST WEEK THEY TOOK BOTH KEYS AND 3 BIKES",
        "My stepdaughter opened the door with my key.",
        "COMMIT_SHA=7c1f90ab34de58217f60b9c2d4a8e613",
        "order_id: 4111111111111111",
        "the wifi password is Wrong",
        "租的room在Clementi,650,landlord aunty不给煮炒",
    ],
)
def test_ordinary_words_beside_a_label_are_not_redacted(text: str) -> None:
    assert quarantine.redact(text) == text


def test_letters_that_grow_in_lower_case_are_scanned() -> None:
    scan_text("the password is " + "İ" * 20)  # "İ".lower() has two characters
