"""Bee keeping."""

from crawlproject.webs.sample.themes import Theme

BEES = Theme(
    key="bees",
    name="bee keeping",
    about="honey bees, hives and the keeper's year",
    places=(
        "Heather Down",
        "the orchard at Wickham",
        "the Bienenhäusl",
        "Cloverfield",
        "the abbey garden",
        "Bramble End",
    ),
    sites=(
        ("hive-handbook", "The Hive Handbook", "atlas"),
        ("skep-and-smoker", "Skep and Smoker Society", "society"),
        ("bee-links", "Bee Links", "hub"),
        ("top-bar-diary", "Top Bar Diary", "notes"),
        ("queen-and-drone", "Queen and Drone", "notes"),
        ("heather-honey", "Heather Honey Days", "notes"),
        ("bee-house", "The Bee House Museum", "museum"),
        ("apiary-club", "Cloverfield Apiary Club", "club"),
        ("wax-and-frame", "Wax and Frame", "shop"),
        ("city-hives", "City Hives", "notes"),
        ("winter-cluster", "Winter Cluster", "notes"),
    ),
    subjects={
        "swarming": (
            "A colony swarms when the old queen leaves with half of the bees to found another home.",
            "Look for queen cells every week in May if you do not want to lose a swarm.",
            "A swarm that hangs in a tree is full of honey and rarely stings.",
        ),
        "the waggle dance": (
            "A forager tells her sisters the direction and distance of flowers by dancing on the comb.",
            "The angle of the waggle run to the vertical is the angle of the flowers to the sun.",
            "The longer the run, the farther the flight.",
        ),
        "varroa mites": (
            "Varroa mites breed in the capped cells and weaken the young bees.",
            "A sugar-dusted jar of three hundred bees tells the keeper how many mites the hive carries.",
            "Removing drone brood takes a good part of the mites with it.",
        ),
        "honey harvest": (
            "Honey is ripe when the bees have capped it with wax.",
            "The frames are uncapped with a warm knife and spun until the honey runs down the drum.",
            "Leave enough honey in the hive for a long winter.",
        ),
        "queen rearing": (
            "A larva becomes a queen when the nurses give it royal jelly and a wide cell.",
            "The breeder moves day-old larvae into cups and hands them to a queenless colony.",
            "A queen mates on the wing with a dozen drones and never again.",
        ),
        "hive designs": (
            "Movable frames became possible when keepers learnt how wide a gap bees leave free.",
            "A top-bar hive needs no foundation and little lifting.",
            "Straw skeps were woven for centuries, and were emptied by driving the bees out.",
        ),
        "forage plants": (
            "Willow and hazel give the first pollen, ivy the last nectar.",
            "A field of clover in flower feeds a colony better than a lawn of any size.",
            "Lime trees drip with nectar on warm evenings in July.",
        ),
        "wintering bees": (
            "In winter the bees hang in a cluster and shiver to keep the queen warm.",
            "Damp kills more colonies than cold, so tilt the hive and let it breathe.",
            "Weigh the hive in February: a light one needs sugar at once.",
        ),
    },
    remarks=(
        "The keepers of {place} kept notes on {subject} through {year}.",
        "Of {number} hives at {place}, the strongest taught us most about {subject}.",
        "Since {year} the apiary at {place} has held an evening on {subject}.",
        "A visitor to {place} asked {number} questions about {subject}, and got as many answers as there were keepers.",
    ),
    goods=("beeswax candle", "smoker with leather bellows", "hive tool", "veil and gloves", "jar of heather honey"),
)
