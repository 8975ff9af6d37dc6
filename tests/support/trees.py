"""Three small sites as their authors upload them, each as a folder of files.

A manual, half of it translated; gardeners' notes in the encodings of their countries, which no page declares; the generated
reference of a library, in frames.
"""

from __future__ import annotations

from pathlib import Path

MANUAL = "manual.example"
NOTES = "notes.example"
REFERENCE = "reference.example"

# Plants, and statements about them: every page makes them about one plant, next to another.
_SPOKEN = {
    "en": (
        "Tomato Cabbage Onion Carrot Pumpkin Pepper Radish Spinach Cucumber Potato Bean Garlic",
        "{0} wants a sunny bed and much water in summer. Sow {0} in spring, and leave a hand between the plants. "
        "Beside {1} it grows well, for the one keeps the insects of the other away. "
        "The harvest of {0} begins when the nights are cool.",
    ),
    "de": (
        "Tomate Kohl Zwiebel Möhre Kürbis Paprika Rettich Spinat Gurke Kartoffel Bohne Knoblauch",
        "{0} braucht ein sonniges Beet und im Sommer viel Wasser. "
        "Im Frühling wird {0} gesät, mit einer Handbreit zwischen den Pflanzen. "
        "Neben {1} wächst sie gut, denn eine hält der anderen die Käfer fern. Die Ernte beginnt, wenn die Nächte kühl werden.",
    ),
    "fr": (
        "Tomate Chou Oignon Carotte Citrouille Poivron Radis Épinard Concombre Patate Haricot Ail",
        "{0} : un endroit ensoleillé et beaucoup d'eau en été. On sème au printemps, à une main l'un de l'autre. "
        "À côté de {1}, la récolte est meilleure, car l'un éloigne les insectes de l'autre. "
        "Elle commence dès que les nuits sont fraîches.",
    ),
    "ru": (
        "Томат Капуста Лук Морковь Тыква Перец Редис Шпинат Огурец Картофель Фасоль Чеснок",
        "{0} любит солнечную грядку и летом много воды. Сеют весной, оставляя между растениями ладонь. "
        "Рядом растёт {1}: одно растение отгоняет насекомых от другого. Урожай собирают, когда ночи становятся прохладными.",
    ),
    "el": (
        "Ντομάτα Λάχανο Κρεμμύδι Καρότο Κολοκύθα Πιπεριά Ραπανάκι Σπανάκι Αγγούρι Πατάτα Φασόλι Σκόρδο",
        "{0}: θέλει ηλιόλουστο παρτέρι και πολύ νερό το καλοκαίρι. Σπέρνεται την άνοιξη, με απόσταση μιας παλάμης. "
        "Δίπλα μεγαλώνει καλά {1}, γιατί το ένα διώχνει τα έντομα του άλλου. Η συγκομιδή αρχίζει όταν δροσίζουν οι νύχτες.",
    ),
    "ja": (
        "トマト キャベツ 玉ねぎ にんじん かぼちゃ ピーマン 大根 ほうれん草 きゅうり じゃがいも いんげん にんにく",
        "{0}は日当たりのよい畑を好み、夏にはたくさんの水が必要です。春に種をまき、株の間を手のひらほどあけます。"
        "{1}のそばに植えると、おたがいに虫を遠ざけます。夜が涼しくなると収穫が始まります。",
    ),
    "zh": (
        "番茄 白菜 洋葱 胡萝卜 南瓜 辣椒 萝卜 菠菜 黄瓜 土豆 豆角 大蒜",
        "{0}喜欢阳光充足的菜地，夏天需要很多水。春天播种，植株之间留一个手掌的距离。"
        "种在{1}旁边长得很好，因为它们互相驱赶害虫。夜晚变凉的时候就可以收获了。",
    ),
    "ko": (
        "토마토 양배추 양파 당근 호박 고추 무 시금치 오이 감자 콩 마늘",
        "{0}는 햇볕이 잘 드는 밭을 좋아하고 여름에는 물이 많이 필요합니다. 봄에 씨를 뿌리고 한 뼘씩 사이를 둡니다. "
        "{1} 옆에 심으면 서로 벌레를 쫓아 잘 자랍니다. 밤이 서늘해지면 수확을 시작합니다.",
    ),
}  # fmt: skip
_ENCODINGS = {
    "ru": ("koi8-r", "cp1251"),
    "el": ("iso8859-7",),
    "ja": ("shift_jis", "euc_jp"),
    "zh": ("gb18030",),
    "ko": ("euc_kr",),
}
_TRANSLATED = 5  # chapters of the manual; the others are shown in English under the folder of the language

Tree = dict[str, tuple[str, bytes]]  # path -> title, body


def trees() -> dict[str, Tree]:
    """The files of each host. All can be reached from its ``index.html``."""
    return {MANUAL: _manual(), NOTES: _notes(), REFERENCE: _reference()}


def write(trees: dict[str, Tree], folder: Path) -> None:
    """Write the files to ``<host>/<path>``."""
    for host, tree in trees.items():
        for path, (_, body) in tree.items():
            file = folder / host / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)


def _chapter(language: str, number: int) -> tuple[str, str]:
    """Return title and text."""
    plants, text = _SPOKEN[language]
    names = plants.split()
    return names[number], text.format(names[number], names[(number + 5) % len(names)])


def _html(title: str, text: str, links: dict[str, str], *, encoding: str = "", language: str = "") -> bytes:
    menu = "".join(f'<li><a href="{url}">{anchor}</a></li>' for url, anchor in links.items())
    tongue = f' lang="{language}"' if language else ""
    page = f"<html{tongue}><head><title>{title}</title></head><body><ul>{menu}</ul><h1>{title}</h1><p>{text}</p></body></html>"
    return page.encode(encoding or "utf-8")


def _manual() -> Tree:
    """Each language has a folder with all chapters and relative links; untranslated chapters show the English text."""
    tree: Tree = {}
    languages = list(_SPOKEN)
    for language in languages:
        chapters = {f"{number}.html": _chapter("en", number)[0] for number in range(12)}
        links = {"index.html": "Contents"} | chapters | {f"../{other}/index.html": other for other in languages}
        for number, path in enumerate(chapters):
            shown = language if number < _TRANSLATED else "en"
            title, text = _chapter(shown, number)
            tree[f"{language}/{path}"] = (title, _html(title, text, links, language=shown))
        title = "The garden" if language == "en" else f"The garden ({language})"
        tree[f"{language}/index.html"] = (title, _html(title, f"All chapters, {language}.", links, language=language))
    front = {f"{language}/index.html": language for language in languages}
    tree["index.html"] = ("Languages", _html("Languages", "Choose one.", front))
    return tree


def _notes() -> Tree:
    """Notes from five countries in seven encodings; no page declares its encoding."""
    tree: Tree = {}
    fronts = {}
    for language, encodings in _ENCODINGS.items():
        for encoding in encodings:
            folder = f"{language}-{encoding}"
            links = {f"{number}.htm": _chapter(language, number)[0] for number in range(12)}
            for number, path in enumerate(links):
                title, text = _chapter(language, number)
                tree[f"{folder}/{path}"] = (title, _html(title, text, links, encoding=encoding))
            title, text = _chapter(language, 0)
            tree[f"{folder}/default.html"] = (title, _html(title, text[: len(text) // 2], links, encoding=encoding))
            fronts[f"{folder}/default.html"] = folder
    tree["index.html"] = ("Notes", _html("Notes", "Gardens of five countries.", fronts))
    return tree


def _reference() -> Tree:
    """One class per page, each with the same inherited members; menus are in frames."""
    title, columns = "Garden API", '<frame src="all.html"><frame src="start.html">'
    frames = f"<html><head><title>{title}</title></head><frameset cols='20%,80%'>{columns}</frameset></html>"
    tree: Tree = {"index.html": (title, frames.encode())}
    plants = _SPOKEN["en"][0].split()
    tools = ["Bed", "Shed", "Tool"]
    classes = [f"{plant}{tool}" for plant in plants for tool in tools]
    inherited = "".join(
        f"<dt>{verb}()</dt><dd>Inherited from Plant.</dd>" for verb in ["sow", "grow", "water", "prune", "harvest"]
    )
    for number, name in enumerate(classes):
        plant, tool = plants[number // len(tools)], tools[number % len(tools)]
        text = f"class {name} extends Plant. The {tool.lower()} of a {plant.lower()}.<dl>{inherited}</dl>"
        text += f"<p>{name}(int rows) makes one with so many rows of {plant.lower()}.</p>"
        links = {f"{classes[number - 1]}.html": "previous", f"{classes[(number + 1) % len(classes)]}.html": "next"}
        tree[f"{name}.html"] = (name, _html(name, text, links))
    tree["all.html"] = ("Classes", _html("Classes", "", {f"{name}.html": name for name in classes[::2]}))
    tree["start.html"] = ("Overview", _html("Overview", "Plants, their beds, sheds and tools.", {"all.html": "all"}))
    return tree
