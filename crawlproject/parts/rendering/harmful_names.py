"""Which controls of a page only a person may click: those that buy, send, delete, subscribe, agree, log in or out.

Requests that would do so are mostly blocked (``browser_requests.py``), but on some sites a GET does it. To leave
a control alone by mistake costs little, so any such word counts, in the languages that are most common on the Web.
"""

from __future__ import annotations

import re

# Words anywhere in a name, an id, a class, a handler or a URL.
_ANYWHERE = (
    r"add to|basket|buy|cart|check ?out|consent|deactivat\w*|delet\w*|destroy|discard|disconnect|donat\w*|erase"
    r"|(?:log|sign) ?(?:in|off|on|out|up)|opt ?(?:in|out)|pay|payments?|paypal|publish|purchas\w*|register|remov\w*|revoke|submit"
    r"|(?:un)?subscri\w*|transfer|unfollow|uninstall|unlike|upload|(?:up|down)?vote|withdraw"
    r"|(?:ab|an)meld\w*|abonn\w*|abschick\w*|absend\w*|akzeptier\w*|(?:aus|ein)logg\w*|bestell\w*|bezahl\w*|buchen|entfern\w*"
    r"|hochladen|kauf\w*|kündig\w*|lösch\w*|registrier\w*|senden|speichern|spenden|stornier\w*|warenkorb|zustimm\w*"
    r"|accepter|achet\w*|command(?:er|ez)|connexion|d[ée](?:connexion|connecter|sabonner)|envoy\w*|inscri(?:re|vez)|panier|payer"
    r"|supprim\w*"
    r"|aceitar|aceptar|apagar|assinar|borrar|carrinho|carrito|cerrar sesión|comprar|eliminar|enviar|excluir|inscrever|pagar|sair"
    r"|salir|suscri\w*"
    r"|accett\w*|acquist\w*|cancella|carrello|elimina(?:re)?|esci|invia|iscriv\w*|paga"
    r"|kopen|koszyk|kup|uitlogg\w*|usuń|verwijder\w*|verzend\w*|winkelwagen|wyloguj|wyślij|zapłać"
    r"|войти|выйти|выход|заказ\w*|корзин\w*|купить|оплат\w*|отправ\w*|подпис\w*|регистр\w*|удал\w*"
)
# Words at the beginning of a line: there they are commands, elsewhere they are nouns ("more posts").
_FIRST = (
    r"accept|agree|allow|apply|approve|book|cancel|clear|close account|confirm|deny|edit|flag|follow|join|like|mail|order|post"
    r"|print|rate|reject|renew|reply|report|reset|save|send|share|tweet"
)
_UNSPACED = (
    r"删除|刪除|登录|登錄|登出|退出|注册|購買|购买|支付|订阅|提交|发送|削除|購入|注文|送信|ログイン|ログアウト|登録"
    r"|삭제|구매|로그아웃|로그인|결제"
)
_HARMFUL = re.compile(rf"\b(?:{_ANYWHERE})\b|^(?:{_FIRST})\b|{_UNSPACED}", re.MULTILINE)
_BETWEEN = re.compile(r"(?<=[a-zа-я])(?=[A-ZА-Я])|[^\w\n]|_")  # words of deleteItem, delete-item, delete_item


def is_harmful(said: str) -> bool:
    """Whether a line that describes a control, or a URL, names such an act."""
    return _HARMFUL.search("\n".join(map(_words, said.splitlines()))) is not None


def _words(line: str) -> str:
    return " ".join(_BETWEEN.sub(" ", line).lower().split())
