"""Sourdough baking."""

from crawlproject.webs.sample.themes import Theme

BREAD = Theme(
    key="bread",
    name="sourdough baking",
    about="sourdough, flour, ovens and the patience between them",
    places=("Millbrook", "the Old Granary", "Ashlar Lane", "Café Ährenfeld", "the village oven", "Saltmarsh"),
    sites=(
        ("crumb-atlas", "The Crumb Atlas", "atlas"),
        ("leaven-guild", "The Leaven Guild", "society"),
        ("bread-links", "Bread Links", "hub"),
        ("sour-diary", "A Sour Diary", "notes"),
        ("slow-loaf", "Slow Loaf", "notes"),
        ("rye-and-time", "Rye and Time", "notes"),
        ("mill-museum", "The Mill Museum", "museum"),
        ("oven-club", "The Wood Oven Club", "club"),
        ("banneton", "Banneton and Blade", "shop"),
        ("flour-notes", "Notes on Flour", "notes"),
        ("levain-letters", "Levain Letters", "notes"),
    ),
    subjects={
        "sourdough starters": (
            "A sourdough starter is flour and water in which wild yeast and bacteria keep each other company.",
            "A new starter smells of wet hay for three days and of apples after a week.",
            "Feed the starter twice a day at room temperature, or once a week in the refrigerator.",
        ),
        "hydration of dough": (
            "Hydration is the weight of the water divided by the weight of the flour.",
            "A dough of eighty percent hydration spreads like custard until it has been folded several times.",
            "Wet dough gives an open crumb, and sticks to every beginner's hands.",
        ),
        "bulk fermentation": (
            "Bulk fermentation ends when the dough has grown by half and trembles in the bowl.",
            "A warm kitchen shortens the fermentation, a cold one deepens the flavour.",
            "Folding during the first hours gives the dough strength without kneading.",
        ),
        "scoring a loaf": (
            "The cut tells the loaf where to open in the heat of the oven.",
            "A shallow cut at a flat angle raises an ear; a deep one lets the loaf spread.",
            "Score cold dough with a wet blade and without hesitation.",
        ),
        "rye bread": (
            "Rye holds water with its gums, not with gluten, so rye bread is poured or spooned rather than shaped.",
            "The acid of the sourdough keeps rye from turning sticky while it bakes.",
            "A whole rye loaf should rest for a day before it is cut.",
        ),
        "milling and flour": (
            "Stone mills leave the germ in the flour, which makes it fragrant and quick to spoil.",
            "Strong flour has more protein and forgives a long fermentation.",
            "Freshly milled flour drinks more water than the bag from the shop.",
        ),
        "wood-fired ovens": (
            "A brick oven is heated for hours, swept clean, and bakes on what the stones remember.",
            "Throw a pinch of flour on the floor of the oven: if it burns at once, wait.",
            "Flat breads go in first, loaves follow, and custards end the day.",
        ),
        "steam and crust": (
            "Steam keeps the skin of the loaf soft while it rises and gelatinises the starch that will shine.",
            "A lidded iron pot traps the steam of the dough itself.",
            "Once the loaf has its colour, open the door and let the crust dry.",
        ),
    },
    remarks=(
        "The bakers of {place} argued about {subject} all through {year}.",
        "We baked {number} loaves at {place} to find out what {subject} changes.",
        "A baker from {place} taught {subject} to {number} guests in {year}.",
        "My notes on {subject} go back to {year}, when the oven at {place} was new.",
    ),
    goods=("linen proving cloth", "cane basket", "scoring blade", "cast-iron baking pot", "dough scraper"),
)
