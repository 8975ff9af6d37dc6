"""Recognises documents without content: captchas, consent pages, parked domains and soft 404s.

Two things decide: typical phrases, and how little other text there is. A page about captchas is long, a captcha is short.
Long documents are not examined, so that most pages cost a comparison of two numbers.

Each phrase is a regular expression over lower-case text with folded white space. The phrases are those of servers, registrars,
content management systems and bot protection, with their translations; none of them needs backtracking.
"""

from __future__ import annotations

import re
from dataclasses import replace

from crawlproject.records import Page

CAPTCHA = "block/captcha"
CONSENT = "block/consent"
PARKED = "parked"
SOFT_404 = "soft_404"
NATURES = (CAPTCHA, CONSENT, PARKED, SOFT_404)
LONGEST = 1_800  # characters of text, links apart, of a document that can be a wall
# Every text that matches a phrase for missing pages contains one of these: most texts are not searched further.
MISSING_WORDS = (
    *("exist", "found", "find", "located", "locate", "available", "not here", "on this server", "removed"),
    *("deleted", "nothing at"),
    *("renamed", "nicht", "gelöscht", "introuvable", "trouvée", "encuentra", "encontrad", "esiste", "trovata", "bestaat"),
    *("gevonden", "istnieje", "znaleziona", "найден", "существует", "удалена", "不存在", "未找到", "見つかり"),
)  # fmt: skip

_MISSING_LONGEST = 700  # characters: a longer page needs the phrase in its title and in its text
_FEW = 200  # characters: hardly any text
_MANY = 400  # characters of links: more than a wall has
_SOON = 300  # characters: how far into the text a missing page says so
_TITLE_PARTS = re.compile(r"\s+[-|–—·»«/]+\s+|\s*[|»«]\s*|:\s+")
_WIDGETS = (b"captcha", b"cf-turnstile", b"_cf_chl_opt", b"challenge-form")
# The title of a missing page, or one part of it, as a whole.
_MISSING_TITLES = (
    r"(?:http )?(?:status )?(?:error )?(?:code )?40[34]",
    r"(?:error )?40[34][ :!.-]*(?:error|page)?",
    r"error|oops|sorry|whoops|uh[- ]oh",
    r"(?:40[34][ :.!-]*)?(?:http )?(?:error[ :-]*)?(?:the |this |that |your )?(?:requested )?"
    r"(?:page|file|document|article|content|url|resource|object|site|web ?page|post|item|product|record)? ?"
    r"(?:(?:was |is |could |can |does )?(?:not|n[’']?t) (?:be )?(?:found|exist|available)|does(?: not"
    r"|n[’']?t) exist|can(?:not|[’']t) be found"
    r"|(?:is )?(?:missing|unavailable|no longer (?:available|exists?)|gone))",
    r"nothing (?:was )?found(?: here)?|nothing here|no results? found|no such page|missing page|broken link|dead link",
    r"(?:die |diese )?(?:gewünschte |angeforderte )?(?:seite|datei|inhalt|artikel|dokument) (?:wurde )?"
    r"(?:leider )?(?:nicht (?:gefunden|vorhanden|verfügbar)|existiert (?:leider )?nicht(?: mehr)?)|nicht gefunden",
    r"(?:la |cette )?(?:page|fichier|article|contenu|document) (?:est |demandée? |n'?est |n'?existe |non )?"
    r"(?:introuvable|non trouvée?|trouvée?|pas(?: trouvée?| disponible)?|inexistante?)",
    r"(?:la )?(?:página|pagina|archivo|artículo|contenido) (?:solicitada )?(?:no |non |não )"
    r"(?:se )?(?:ha sido |é stata |è stata |foi )?(?:encontrad[ao]|trovat[ao]|existe|esiste|disponible"
    r"|disponibile|disponível)",
    r"(?:no |non |não )(?:encontrad[ao]|trovat[ao])",
    r"(?:de )?(?:pagina|bestand) (?:is |werd |kon )?(?:niet (?:gevonden|beschikbaar)|bestaat niet)",
    r"(?:sidan|siden|side) (?:kunde |blev |ble |finns |findes )?(?:inte|ikke) ?(?:hittades|fundet|funnet|hittas)?",
    r"(?:sivua )?ei (?:löytynyt|löydy)|(?:strona )?nie (?:została )?(?:znaleziona|znaleziono|istnieje)|stránka nenalezena",
    r"sayfa bulunamadı|halaman tidak ditemukan|không tìm thấy(?: trang)?|az oldal nem található|pagina nu a fost găsită",
    r"(?:страница|файл|документ) (?:не найдена?|не существует|отсутствует|удален[ао]?)|сторінку не знайдено",
    r"(?:ページ|お探しのページ)?が?見つかりません(?:でした)?|页面(?:不存在|未找到|没有找到)|找不到(?:网页|頁面|该页面|页面)|頁面不存在"
    r"|페이지를 찾을 수 없(?:습니다|음)|الصفحة غير موجودة|הדף לא נמצא|η σελίδα δεν βρέθηκε",
)
# What a missing page says: strong phrases mention what "you" requested, weak ones do not. A page that has moved is not
# gone: its link is followed.
_GONE = (
    r"(?:(?:does|do|did)(?: not|n[’']?t) (?:seem to )?exist|(?:can(?:not|[’']t)|could(?: not|n[’']?t)) be (?:found|located)"
    r"|(?:was|is|were|are)(?: not|n[’']?t) (?:found|available|here|on this server)|no longer (?:exists?|available)"
    r"|(?:moved|removed|renamed|deleted)[^.!?]{0,12}(?: or |, )[^.!?]{0,40}(?:deleted|removed|moved|renamed|exist))"
)
_THING = r"\b(?:page|file|document|article|url|address|content|resource|item|product|post|listing|link)s?\b"
_MISSING_STRONG = (
    _THING + r" (?:that |which )?you[^.!?]{0,70}?" + _GONE,
    r"(?:request(?:ed)?|missing) " + _THING + r"[^.!?]{0,80}?" + _GONE,
    r"(?:sorry|unfortunately|oops|whoops)\b[^.]{0,60}(?:could|can|did)(?: not|n[’']?t|not) (?:find|locate)",
    r"nothing (?:was |could be )?found (?:at|here|under|for this)|there(?:[’']s"
    r"| is) nothing at this (?:address|url|location)",
    r"(?:gesuchte|gewünschte|angeforderte)[^.!?]{0,20} seite[^.!?]{0,60}(?:existiert|nicht|gelöscht)"
    r"|diese seite existiert[^.!?]{0,20}nicht"
    r"|seite (?:wurde )?(?:leider )?nicht gefunden|seite[^.!?]{0,30} existiert (?:leider )?nicht",
    r"(?:cette |la )page[^.!?]{0,60}(?:n[’']existe (?:pas|plus)|est introuvable|n[’']a pas (?:pu être|été) trouvée)",
    r"p[áa]gina[^.!?]{0,60}(?:no (?:existe|se encuentra|ha sido encontrada|se ha encontrado)|no fue encontrada"
    r"|non (?:esiste|è stata trovata)|não (?:existe|foi encontrada))",
    r"(?:deze |de )pagina[^.!?]{0,60}(?:bestaat niet|niet gevonden|niet worden gevonden)"
    r"|strona[^.!?]{0,60}nie (?:istnieje|została znaleziona)",
    r"страниц[аы][^.!?]{0,60}(?:не (?:найдена|существует)|была удалена)|頁面不存在|页面不存在|页面未找到|見つかりませんでした",
)
_MISSING_WEAK = (r"\b(?:this|the|that|that's) " + _THING + r"[^.!?]{0,60}?" + _GONE,)
_FOR_SALE = (
    r"domain(?: name)?[^!?]{0,60} (?:is|may be|might be|could be) (?:now |available )?(?:for sale|available for purchase)",
    r"(?:buy|purchase|get|own|inquire about|make an offer (?:on|for)|lease) (?:this|the) domain\b",
    r"(?:this|the) (?:domain(?: name)?|web ?page|web ?site|site|page)[^.!?]{0,40} is parked|parked (?:free"
    r"|domain|page)|domain parking",
    r"(?:domain|website|name)[^.!?]{0,30} (?:has|is) (?:recently )?(?:been )?expired|renew (?:this"
    r"|your) domain|domain expired",
    r"(?:is|are) offering (?:it|this domain|the domain)[^.!?]{0,10} for sale|is for sale[.!]? *(?:make|buy"
    r"|enquire|inquire|click|contact)",
    r"provided (?:free|courtesy)[^.!?]{0,40}(?:registrar|registrant|host|godaddy|sedo)|sedo(?:parking| domain)|hugedomains",
    r"interested in (?:this|buying this|purchasing this) domain|(?:registered|reserved) (?:at|by|with) [^.!?]{0,40}registrar",
    r"domain[^.!?]{0,60} (?:steht|ist)[^.!?]{0,20}(?:zum verkauf|zu verkaufen|geparkt)"
    r"|nom de domaine[^.!?]{0,40}(?:à vendre|en vente|réservé)",
    r"dominio[^.!?]{0,40}(?:en venta|in vendita|à venda|está à venda)|domein[^.!?]{0,30}te koop"
    r"|домен[^.!?]{0,40}(?:прода[её]тся|припаркован)"
    r"|(?:域名|网域)[^。]{0,10}(?:出售|转让)|このドメイン[^。]{0,20}(?:販売|売り)",
)
_CHALLENGES = (
    r"(?:verify|confirm|prove|check(?:ing)?|make sure|ensure)[^.!?]{0,40}(?:you(?:'re| are)?|connection|browser)[^.!?]{0,20}"
    r"(?:human|not a (?:ro)?bot|secure|a real person|before)",
    r"are you (?:a )?(?:human|robot|bot|real)|(?:you are|you're|i am|i'm) not a (?:ro)?bot|robot check|human verification",
    r"(?:complete|solve|pass|answer|enter|type)[^.!?]{0,40}(?:captcha|security (?:check|question|code)|characters|challenge)",
    r"unusual (?:traffic|activity)|automated (?:access|requests?|queries|traffic)[^.!?]{0,60}(?:blocked|denied"
    r"|detected|not allowed)?",
    r"(?:enable|activate|turn on) (?:java ?script|cookies)(?: and (?:java ?script"
    r"|cookies))?[^.!?]{0,30}(?:to (?:continue|proceed|view)|and reload)",
    r"checking (?:your browser|if the site connection)|just a moment|one more step|please wait while"
    r"|ddos protection|security check",
    r"(?:access|request)[^.!?]{0,30} (?:has been |was |is |temporarily )?(?:denied|blocked|forbidden|rejected)"
    r"|you have been blocked",
    r"attention required|pardon our interruption|press (?:and|&) hold|request unsuccessful|ray id|incident id"
    r"|too many requests|rate limit",
    r"(?:bestätigen|beweisen)[^.!?]{0,40}(?:mensch|kein roboter)|vérifi[^.!?]{0,40}(?:humain|robot)"
    r"|(?:no (?:soy|eres)|non sono) un robot",
    r"(?:подтвердите|докажите)[^.!?]{0,30}не робот|доступ (?:запрещ[её]н|ограничен)|zugriff verweigert"
    r"|accès refusé|acceso denegado",
)
_CONSENTS = (
    r"before you (?:continue|proceed|enter|begin)|(?:to|and) (?:continue|proceed) to (?:this|the|our) (?:site|website|page)",
    r"(?:we|us)(?: and)? (?:our )?(?:\d+ )?(?:partners|vendors)[^.!?]{0,60}(?:cookies|data|information"
    r"|technolog)|and our (?:\d+ )?partners",
    r"(?:value|respect|care about|protect) your privacy|your privacy (?:matters|choices|is important)"
    r"|privacy (?:settings|preferences)",
    r"\b(?:accept|agree to|allow|reject|decline|refuse)\b[^.!?]{0,20}\b(?:all|cookies|and continue)\b|\bi (?:accept"
    r"|agree)|cookie (?:settings|wall|preferences)",
    r"(?:manage|more|see|customi[sz]e) (?:your )?(?:options|preferences|choices|settings)|consent to|your consent",
    r"you must be (?:at least |over )?(?:18|21|of legal)|age verification|confirm your age|are you (?:over"
    r"|at least) (?:18|21)",
    r"(?:cookies|partner)[^.!?]{0,60}(?:zustimmen|einwillig|akzeptieren|ablehnen)|stimmen sie[^.!?]{0,30}zu"
    r"|einwilligung|datenschutzeinstellungen",
    r"(?:accepter|refuser|gérer)[^.!?]{0,20}(?:tout|cookies|choix)|(?:aceptar|rechazar|accetta|rifiuta"
    r"|aceitar)[^.!?]{0,20}(?:todo|tutti|todas|cookies)"
    r"|nos partenaires|nuestros socios|votre consentement|su consentimiento",
)


def page_type_of(title: str, text: str, linked: int, body: bytes) -> str:
    """Return one of ``NATURES``, or an empty string for a document with content.

    ``text`` is the visible text, and ``linked`` the number of its characters inside links. ``body`` is searched for the widgets
    of captchas.
    """
    own = len(text) - linked
    if own > 4 * LONGEST:
        return ""
    said = " ".join(text.lower().split())
    own = max(0, len(said) - linked)
    if own > LONGEST:
        return ""
    named = " ".join(title.lower().split())
    mentions = said.__contains__
    if linked < _MANY and any(map(mentions, CHALLENGE_WORDS)) and _is_captcha(named, said, own, body):
        return CAPTCHA
    if any(map(mentions, FOR_SALE_WORDS)) and FOR_SALE.search(said):
        return PARKED
    if _is_missing(named, said, own):
        return SOFT_404
    return CONSENT if any(map(mentions, CONSENT_WORDS)) and _is_consent(named, said, own, linked) else ""


def _is_captcha(title: str, said: str, own: int, body: bytes) -> bool:
    """Whether there are enough signs: one with a widget or below ``_FEW`` characters, two below twice ``_FEW``, else three."""
    found = sum(1 for pattern in CHALLENGES if pattern.search(said)) + any(p.search(title) for p in CHALLENGES)
    if not found:
        return False
    wanted = 1 if own < _FEW or any(widget in body for widget in _WIDGETS) else 2 if own < 2 * _FEW else 3
    return found >= wanted


def _is_consent(title: str, said: str, own: int, linked: int) -> bool:
    """Whether a document asks for consent and says little else."""
    if linked >= _MANY or own >= 900:
        return False
    found = sum(1 for pattern in CONSENTS if pattern.search(said))
    named = any(pattern.search(title) for pattern in CONSENTS)
    return found + named >= 2 and (own < 400 or found + named > 2 or named)


def _is_missing(title: str, said: str, own: int) -> bool:
    """Whether a document says in its title, or early in its text, that it is missing, and says little else."""
    named = any(MISSING_TITLE.fullmatch(part.strip(" .!…?")) for part in _TITLE_PARTS.split(title))
    if named and own < _MISSING_LONGEST:
        return True
    if not any(map(said.__contains__, MISSING_WORDS)):
        return False
    if named:
        return bool(MISSING_STRONG.search(said) or MISSING_WEAK.search(said))
    if own > _MISSING_LONGEST:
        return False
    found = MISSING_STRONG.search(said) or (MISSING_WEAK.search(said) if own < _FEW else None)
    return found is not None and found.start() < _SOON


def with_page_type(page: Page) -> Page:
    """Return the page with the page type that the reader noted in ``Page.signs``, if any."""
    found = next((page_type for page_type in NATURES if page.signs.get(page_type)), "")
    return replace(page, page_type=found) if found else page


def _any_of(expressions: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{expression})" for expression in expressions))


MISSING_TITLE = _any_of(_MISSING_TITLES)
MISSING_STRONG = _any_of(_MISSING_STRONG)
MISSING_WEAK = _any_of(_MISSING_WEAK)
FOR_SALE_WORDS = (
    "domain",
    "domein",
    "domin",
    "домен",
    "域名",
    "网域",
    "ドメイン",
    "parked",
    "sedo",
    "for sale",
    "expired",
    "registrar",
    "provided",
)
FOR_SALE = _any_of(_FOR_SALE)
CHALLENGE_WORDS = (
    *("human", "robot", "not a bot", "captcha", "security", "browser", "cookies", "javascript", "java script"),
    *("moment", "unusual"),
    *("automated", "denied", "blocked", "forbidden", "rejected", "attention", "interruption", "press", "ray id", "incident id"),
    *("too many", "rate limit", "one more step", "please wait", "ddos", "are you", "unsuccessful", "mensch", "humain"),
    *("робот", "доступ", "verweigert", "refusé", "denegado", "characters", "challenge", "connection"),
)  # fmt: skip
CHALLENGES = tuple(map(re.compile, _CHALLENGES))
CONSENT_WORDS = (
    "cookie",
    "privacy",
    "consent",
    "partners",
    "continue",
    "18",
    "21",
    "age",
    "zustimm",
    "einwillig",
    "datenschutz",
    "accept",
    "consentement",
)
CONSENTS = tuple(map(re.compile, _CONSENTS))
