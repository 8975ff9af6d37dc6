"""Names of months and days of the week, which on a short page carry as little meaning as the numbers of a date."""

from __future__ import annotations

from crawlproject.pages.text.analyzer import Analyzer
from crawlproject.pages.text.minhash import term_hashes

_NAMES = {
    "en": "January February March April May June July August September October November December "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Monday Tuesday Wednesday Thursday Friday Saturday Sunday "
    "Mon Tue Wed Thu Fri Sat Sun",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember "
    "Jan Feb Mär Apr Jun Jul Aug Sep Okt Nov Dez Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonnabend Sonntag",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre "
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "lunes martes miércoles jueves viernes sábado domingo",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro "
    "segunda terça quarta quinta sexta sábado domingo",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december "
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
}


def date_names(analyzer: Analyzer) -> frozenset[int]:
    """Return the hashes of the terms that ``analyzer`` makes of these names; none for a language not listed here."""
    return frozenset(term_hashes(analyzer.terms(_NAMES.get(analyzer.language, "")))[0].tolist())
