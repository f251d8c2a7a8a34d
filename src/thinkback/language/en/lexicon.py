"""English word lists, checks of values (`is_job`, `is_place`), and pattern fragments of the rules."""

from __future__ import annotations

import re

from thinkback.language.kinship import KIN_EN, PETS_EN, alternation_pattern
from thinkback.language.tokens import NUMBER_PATTERN_EN


def word_set(words: str) -> frozenset[str]:
    """The words of a whitespace-separated list."""
    return frozenset(words.split())


JOBS = word_set(
    """
    doctor nurse teacher engineer lawyer chef cook vet programmer student scientist pilot artist musician
    accountant architect professor writer actor director designer farmer electrician plumber dentist therapist
    photographer journalist consultant researcher developer barista waiter waitress firefighter paramedic
    pharmacist psychologist surgeon translator librarian secretary cashier clerk mechanic carpenter policeman
    soldier judge model dancer singer freelancer manager ceo cto cfo founder intern analyst editor producer
    administrator physician physicist chemist biologist mathematician economist historian tutor coach nanny
    guard driver technician officer cop baker butcher barber hairdresser actress painter sculptor poet
    novelist entrepreneur salesperson postdoc trainer operator receptionist radiologist veterinarian
    nutritionist roofer welder bricklayer joiner tiler plasterer decorator builder surveyor courier postman
    trucker sailor fisherman diver midwife carer caretaker caregiver janitor cleaner bartender bouncer
    sommelier pastry-chef tailor seamstress jeweller jeweler florist gardener landscaper arborist beekeeper
    brewer winemaker potter weaver tattooist beautician stylist masseuse masseur physio physiotherapist
    chiropractor optician optometrist orthodontist hygienist podiatrist dietitian dietician audiologist
    radiographer sonographer phlebotomist anaesthetist anesthesiologist gp solicitor barrister paralegal
    notary magistrate politician diplomat civil-servant policewoman detective ranger lifeguard referee umpire
    footballer athlete jockey drummer guitarist pianist violinist cellist composer conductor dj comedian
    magician animator illustrator cartoonist copywriter columnist reporter blogger podcaster streamer youtuber
    publisher bookseller archivist curator lecturer headteacher principal dean teaching-assistant au-pair
    babysitter auditor actuary banker broker trader underwriter bookkeeper realtor recruiter marketer buyer
    planner strategist statistician sysadmin devops webmaster tester hacker machinist blacksmith glazier
    scaffolder crane-operator forklift-driver dispatcher stewardess steward flight-attendant navigator
    astronaut astronomer botanist zoologist ecologist meteorologist vicar priest pastor rabbi imam monk nun
    chaplain undertaker upholsterer cobbler locksmith zookeeper interpreter stagehand screenwriter playwright
    filmmaker cinematographer cameraman contractor foreman handyman shopkeeper salesman saleswoman stockbroker
    stenographer typist warehouse-worker temp
    """
)
_JOB_SUFFIX = re.compile(
    r"(?:ologist|iatrist|grapher|therapist|engineer|assistant|specialist|worker|keeper|smith|nurse|teacher"
    r"|maker|driver|attendant|instructor|apprentice|technician|officer)\Z"
)
LANGUAGES = word_set(
    """
    english french german spanish italian portuguese chinese mandarin cantonese japanese korean russian arabic
    hebrew hindi urdu bengali turkish dutch swedish norwegian danish finnish polish czech greek thai
    vietnamese indonesian malay swahili ukrainian hungarian romanian latin tamil punjabi persian farsi tagalog
    catalan irish welsh asl konkani marathi gujarati telugu kannada malayalam sinhala nepali pashto kurdish
    amharic yoruba igbo hausa zulu xhosa afrikaans somali icelandic estonian latvian lithuanian slovak
    slovenian slovene croatian serbian bosnian bulgarian albanian macedonian georgian armenian azerbaijani
    kazakh uzbek mongolian khmer lao burmese basque galician gaelic breton flemish yiddish esperanto maltese
    luxembourgish hokkien hakka shanghainese teochew bsl cebuano ilocano quechua guarani maori hawaiian
    tibetan odia assamese sanskrit
    """
)
_NATIONALITIES = word_set(
    """
    american british english french german spanish italian portuguese chinese japanese korean russian canadian
    australian indian mexican brazilian dutch swedish norwegian danish finnish polish czech greek thai
    vietnamese irish scottish welsh turkish egyptian nigerian kenyan argentinian colombian ukrainian swiss
    austrian belgian hungarian taiwanese singaporean malaysian indonesian filipino iranian israeli pakistani
    chilean peruvian cuban romanian bulgarian serbian croatian slovak slovenian ghanaian ethiopian moroccan
    lebanese syrian iraqi saudi bangladeshi nepali sri-lankan jamaican icelandic
    """
)
_TRAIT_WORDS = word_set(
    """
    vegetarian vegan pescatarian diabetic prediabetic left-handed right-handed introvert extrovert introverted
    extroverted retired unemployed self-employed pregnant christian catholic muslim buddhist hindu jewish
    atheist agnostic bilingual colorblind colour-blind color-blind deaf blind dyslexic autistic nearsighted
    short-sighted lactose-intolerant gluten-intolerant smoker non-smoker celiac coeliac teetotal teetotaler
    teetotaller sober asthmatic epileptic anaemic anemic adopted homeschooled ambidextrous flexitarian
    plant-based gay lesbian bisexual homebody
    """
)
_TRAIT_PHRASES = (
    "lactose intolerant",
    "gluten intolerant",
    "color blind",
    "colour blind",
    "a twin",
    "night owl",
    "early bird",
    "morning person",
    "only child",
    "hard of hearing",
    "gluten free",
    "dairy free",
    "plant based",
    "cat person",
    "dog person",
    "left handed",
    "right handed",
    "type 1 diabetic",
    "type 2 diabetic",
)
TRAITS = _NATIONALITIES | _TRAIT_WORDS | frozenset(_TRAIT_PHRASES)
_DIETS = word_set(
    "vegetarian vegan pescatarian veggie keto paleo sober teetotal gluten-free dairy-free plant-based"
)
MARITAL_STATUSES = word_set("married single divorced engaged widowed separated")
CONDITIONS = word_set(
    """
    diabetes asthma hypertension cancer adhd add depression anxiety migraine migraines arthritis epilepsy
    insomnia eczema psoriasis anemia anaemia gout ocd ptsd hypothyroidism hyperthyroidism pneumonia scoliosis
    tinnitus vertigo prediabetes endometriosis pcos ibs gerd copd lupus crohn's rosacea fibromyalgia sciatica
    osteoporosis glaucoma cataracts dyslexia narcolepsy anorexia bulimia leukaemia leukemia shingles covid
    reflux hemophilia haemophilia parkinson's alzheimer's ms me/cfs angina arrhythmia afib autism dyspraxia
    vitiligo alopecia apnea apnoea astigmatism preeclampsia thalassemia stroke strokes ulcer ulcers
    """
)
_CONDITION_SUFFIX = re.compile(
    r"(?:disease|syndrome|disorder|heart attack|heart failure|fibrillation"
    r"|blood pressure|cholesterol|cancer|itis|diabetes|apnea|apnoea|deficiency"
    r"|intolerance|allergy|phobia|neuropathy|hernia|murmur|osis|thyroid|reflux)\Z"
)
MEDICINES = word_set(
    """
    insulin metformin aspirin ibuprofen paracetamol warfarin antidepressants antibiotics statins statin
    antihistamines steroids prednisone prednisolone levothyroxine melatonin sertraline zoloft prozac lexapro
    xanax adderall ritalin ozempic wegovy methotrexate lithium omeprazole amoxicillin penicillin probiotics
    iron magnesium creatine multivitamins antacids hrt ventolin salbutamol
    """
)
_MEDICINE_SUFFIX = re.compile(
    r"(?:statin|pril|sartan|olol|azole|prazole|cillin|mycin|oxetine|pine|zepam|zolam|formin|gliptin"
    r"|glutide|thyroxine|xaban|gatran|grel|oquine|tropium|fenac|coxib|oxicam|naproxen|cycline|floxacin|parin"
    r"|thiazide|semide|dronate|dronic acid|folic acid|solone|asone|tadine|rizine|pentin|gabalin|triptyline"
    r"|pramine|azapine|idone|peridol|tidine|moterol|meterol|phylline|furantoin|methoprim|flozin|glitazone|afil|sulosin"
    r"|zosin|steride|trexate|thioprine|salazine|colchicine|codeine|morphine|tramadol"
    r"|(?:iron|water|salt|\w+ing) tablets?"
    r"|any (?:medicine|medication|tablet|pill|drug)s?"
    r"|profen|codone|dipine|triptan|setron|lukast|vitamin [a-k]\d*|vitamins?|supplements?|blood"
    r" thinners?|inhaler"
    r"|beta[- ]blockers?|painkillers?|the pill|medication)\Z"
)
FOODS = word_set(
    """
    meat beef pork lamb chicken fish seafood shellfish dairy milk cheese eggs gluten bread sugar nuts peanuts
    mushrooms onions garlic tomatoes wheat soy carbs chocolate sweets cilantro coriander olives shrimp prawns
    tofu rice pasta lactose poultry candy desserts crisps
    """
)
DRINKS = word_set(
    """
    coffee caffeine alcohol beer wine soda coke tea whisky whiskey booze liquor pop lattes espresso cocktails
    decaf spirits
    """
)
SCHOOL_SUBJECTS = word_set(
    """
    biology chemistry physics maths math mathematics history geography economics psychology sociology
    philosophy law medicine engineering literature linguistics anthropology archaeology accounting marketing
    nursing architecture journalism music art drama theatre geology astronomy statistics politics theology
    classics pharmacy dentistry education business finance biochemistry neuroscience botany zoology ecology
    nutrition design spanish french german latin italian russian japanese chinese mandarin
    """
)
_NON_EMPLOYERS = word_set(
    """
    facebook instagram twitter tiktok reddit snapchat netflix linkedin discord slack whatsapp telegram
    mastodon bluesky youtube tinder hinge bumble duolingo spotify x wordle weightwatchers strava zoom teams
    army navy scouts rotary mensa
    """
)
NOT_NAMES = word_set(
    """
    i i'm i've my the a an this that these those there here it it's he she we they you your his her our their
    what who where when why how which yes no not and but so or if then also well ok okay oh hi hey hello
    thanks thank please sorry actually today yesterday tomorrow monday tuesday wednesday thursday friday
    saturday sunday january february march april june july august september october november december everyone
    everything nothing something someone nobody life love work school home dinner lunch breakfast music one
    two fine great good sure ready happy sad tired sick late early back done single married glad afraid aware
    busy bored all most some many both lately recently nowadays currently anyway btw morning evening finally
    honestly luckily sadly unfortunately meanwhile otherwise however never always once
    """
)
VAGUE_NOUNS = word_set(
    """
    question questions problem problems idea ideas feeling look time dream cold doubt chance minute moment
    favor favour request plan lot bit few fever headache point hunch suggestion issue way thing things
    something fun reason choice hard difficult good bad nice great blast day week crush date go break seat nap
    meeting appointment exam test interview rest drink snack guess hangover little need memory conversation
    """
)
APPOINTMENT_NOUNS = word_set("meeting appointment exam test interview date go")
PRONOUNS = word_set(
    """
    it that this them you him her these those one something anything everything nothing what me us myself
    yourself here there so more less much many him/her same others nobody someone anyone everyone
    """
)

_TITLE = r"(?:(?:[Mm]r|[Mm]rs|Ms|Miss|Mx|[Dd]r|[Pp]rof|Professor|Sir|Coach|Auntie|Uncle|Aunt)\.?\s+)?"
_CAPITAL_LETTER = "[A-ZÀ-ÖØ-ÞĆČĎĐĘĚĞİĽŁŃŇŐŘŚŞŠŤŮŰŹŻŽ]"  # Åsa, Élodie, Łukasz
_SURNAME = (
    rf"(?:\s+(?:de|van|von|der|da|al|bin|le|la|del|dos|O')\s+{_CAPITAL_LETTER}[\w'-]*"
    rf"|\s+(?!I\b){_CAPITAL_LETTER}[\w'-]*)"
)
NAME = rf"{_TITLE}{_CAPITAL_LETTER}[\w'-]*{_SURNAME}{{0,3}}"
"""A person's name with optional title and surnames."""


def is_appointment(words: str) -> bool:
    """Whether the words name something scheduled: an exam or a meeting, but not a question."""
    return (VAGUE_NOUNS - APPOINTMENT_NOUNS).isdisjoint(words.lower().split())


def is_name(words: str) -> bool:
    """Whether the words are spelled like a person's name: capitalised and no common word."""
    parts = words.split()
    return (
        bool(re.fullmatch(NAME, words))
        and parts[0].lower() not in NOT_NAMES | TRAITS
        and "I" not in parts[1:]
    )


_NOT_LOWERCASE_NAMES = NOT_NAMES | word_set(
    "unknown secret hidden hard long common weird funny boring private mine important"
)


def is_lowercase_name(word: str) -> bool:
    """Whether a lower-case word after "my name is" can be a name; many people type no capitals."""
    return bool(re.fullmatch(r"[a-z]{2,14}", word)) and word not in _NOT_LOWERCASE_NAMES


def is_job(words: str) -> bool:
    """Whether the words name an occupation: "software engineer", "director of sales"."""
    lowered = words.lower()
    head = lowered.split(" of ")[0].split()[-1:] or [""]
    is_known = head[0] in JOBS or bool(_JOB_SUFFIX.search(head[0])) or "-".join(lowered.split()[-2:]) in JOBS
    return is_known and len(words.split()) <= 5


def is_language(words: str) -> bool:
    """Whether the last word is a language."""
    return words.lower().split()[-1] in LANGUAGES


def is_condition(words: str) -> bool:
    """Whether the words name an illness or a lasting medical condition."""
    lowered = words.lower()
    if lowered.startswith("no ") or " with " in lowered:
        return False  # "no kidney disease" denies one, "a sister with diabetes" is a person
    return (lowered.split()[-1] in CONDITIONS or bool(_CONDITION_SUFFIX.search(lowered))) and len(
        words.split()
    ) <= 4


def is_ownable(words: str) -> bool:
    """Whether the words name something one can have, unlike a question, an idea or a cold."""
    lowered = words.lower().split()
    if not {"called", "named"}.isdisjoint(lowered) and not KIN_EN.keys().isdisjoint(lowered):
        return False  # a person: "a sister called June"
    return VAGUE_NOUNS.isdisjoint(lowered[:4]) and lowered[-1].rstrip("s") not in KIN_EN


def is_place(words: str) -> bool:
    """Whether the words name a place of residence: "the UK", but not "the city" or "a small flat"."""
    first, _, rest = words.partition(" ")
    if first.lower() in ("a", "an", "my", "our", "another", "one", "two", "this", "that", "fear", "peace"):
        return False
    return first.lower() != "the" or rest[:1].isupper()


def is_trait(words: str) -> bool:
    """Whether the words describe a person: a nationality, "vegan", "a night owl"."""
    bare = re.sub(r"^(?:(?:an?|the|half|part) )+", "", words.lower())
    return bare in TRAITS or words.lower() in TRAITS


def is_diet(words: str) -> bool:
    """Whether the words name a diet."""
    return words.lower() in _DIETS


def is_medicine(words: str) -> bool:
    """Whether the words name a medicine or supplement, with or without a dose."""
    bare = words.lower().removeprefix("some ").removeprefix("my ").removeprefix("the ")
    last = bare.split()[-1:] or [""]
    return len(bare.split()) <= 4 and (last[0] in MEDICINES or bool(_MEDICINE_SUFFIX.search(bare)))


def is_food(words: str) -> bool:
    """Whether the last word is a food."""
    return (words.lower().split() or [""])[-1] in FOODS


def is_drink(words: str) -> bool:
    """Whether the last word is a drink."""
    return (words.lower().split() or [""])[-1] in DRINKS


def is_school_subject(words: str) -> bool:
    """Whether the words name a subject taught at a school or university."""
    return (words.lower().split() or [""])[-1] in SCHOOL_SUBJECTS and len(words.split()) <= 3


def is_employer(words: str) -> bool:
    """Whether the words can name an employer, unlike a web site or a club that people join and quit."""
    return is_name(words) and words.lower().split()[-1] not in _NON_EMPLOYERS


_SCHOOL = re.compile(
    r"(?:\b(?:University|College|School|High|Academy|Institute|Primary|Elementary|Secondary|Grammar|Uni|Tech"
    r"|Polytechnic|Kindergarten|Nursery|Conservatory)|\A(?:the )?(?:University|College|School) of .+)\Z"
)


def is_school(words: str) -> bool:
    """Whether the name itself says that it is a school: "Durham University", "the University of Leeds"."""
    return bool(_SCHOOL.search(words))


def is_not_school(words: str) -> bool:
    """Negation of `is_school`, for `Rule.accept`."""
    return not is_school(words)


_SYMPTOMS = word_set(
    """
    pain pains ache aches urination nausea fever fevers dizziness fatigue headache headaches cough coughing
    bleeding vomiting diarrhea diarrhoea constipation breath numbness swelling itching burning rash
    palpitations cramps chills discomfort weakness thirst sweats tingling bloating heartburn stiffness tremors
    wheezing breathlessness tiredness exhaustion hives
    """
)


def is_symptom(words: str) -> bool:
    """Whether the words name a symptom or an illness."""
    last = (words.lower().split() or [""])[-1]
    is_known = last in _SYMPTOMS and not words.lower().startswith("no ")
    return len(words.split()) <= 5 and (is_known or is_condition(words))


def is_deniable_symptom(words: str) -> bool:
    """Whether a preceding "no" covers this list item: not the cough in "no fever and a cough"."""
    return is_symptom(words) and not words.lower().startswith(("a ", "an ", "some ", "the "))


_TREATMENTS = word_set(
    """
    operation operations surgery injection injections chemotherapy chemo radiotherapy dialysis transfusion
    transfusions infusion infusions vaccine vaccination jab jabs tablets pills treatment inhaler inhalers
    stent pacemaker biopsy colonoscopy gastroscopy endoscopy catheter anaesthetic antidepressants
    """
)


def is_treatment(words: str) -> bool:
    """Whether the words name a treatment that a patient may refuse."""
    last = (words.lower().split() or [""])[-1]
    return len(words.split()) <= 4 and (last in _TREATMENTS or is_medicine(words))


BE = r"(?:am|is|are)"
BECAME = rf"(?:{BE}|became|have become|has become|have been|has been)"
HAVE = r"(?:have got|has got|have|has)"
COUNT = rf"(?:an?|{NUMBER_PATTERN_EN}|no|some|several|many)"
KIN = rf"(?:{alternation_pattern(KIN_EN)})"
PET = rf"(?:{alternation_pattern(PETS_EN)})"
WEIGHT_UNIT = r"(?:kgs?|kilos?|kilograms?|lbs?|pounds?|stones?)"
DOSE = (
    r"\d[\d.,]*\s?(?:mg|mcg|µg|ug|g|ml|iu|units?|puffs?|tablets?|pills?|capsules?|drops?"
    r"|(?:milli|micro)?gram(?:me)?s?|millilit(?:er|re)s?)\b"
)
MONEY = (
    r"(?:[$€£¥]\s?\d[\d.,]*\s?[kK]?|\d[\d.,]*\s?[kK]?\s?(?:dollars|euros?|pounds|yen|yuan|bucks|quid"
    r"|francs|rupees"
    r"|pesos|crowns|kronor|zloty|usd|USD|eur|EUR|gbp|GBP|chf|CHF)|\d[\d.,]*[kK])\b"
)
MODIFIERS = (
    "(?:(?:older|younger|elder|big|little|twin|best|new|close|old|oldest|good|step|half|pet|eldest|youngest"
    "|small|cute|dear|late|then|current|next-?door|upstairs|downstairs|work|uni|college|school|childhood"
    "|tiny|grey|gray|black|white|ginger|rescue|first|second|third|middle|line|team|project|lovely|poor"
    "|previous|former) )*"
)
"""Adjectives that may stand between "my" and a relative, role or pet."""
