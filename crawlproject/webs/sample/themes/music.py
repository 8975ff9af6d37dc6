"""Medieval music."""

from crawlproject.webs.sample.themes import Theme

MUSIC = Theme(
    key="music",
    name="medieval music",
    about="chant, song and instruments before 1450",
    places=(
        "Saint Odo's",
        "the cloister at Varne",
        "the choir school",
        "Saint-Éloi",
        "the library of Aldren",
        "Troy Gate",
    ),
    sites=(
        ("neume-index", "The Neume Index", "atlas"),
        ("hurdy-gurdy-society", "The Hurdy-Gurdy Society", "society"),
        ("chant-links", "Chant Links", "hub"),
        ("vielle-diary", "A Vielle Diary", "notes"),
        ("mode-and-measure", "Mode and Measure", "notes"),
        ("troubadour-road", "The Troubadour Road", "notes"),
        ("psaltery-museum", "The Psaltery Museum", "museum"),
        ("evensong-club", "The Evensong Singers", "club"),
        ("gut-and-bow", "Gut and Bow", "shop"),
        ("motet-notes", "Motet Notes", "notes"),
        ("estampie-nights", "Estampie Nights", "notes"),
    ),
    subjects={
        "plainchant": (
            "Plainchant is sung in unison and follows the rhythm of the words.",
            "Each chant belongs to one of eight modes with its own resting note.",
            "Monks knew by heart what we need several books to write down.",
        ),
        "neumes and notation": (
            "The first neumes show only whether the voice rises or falls.",
            "A line scratched into the parchment fixed one pitch, and the staff grew from it.",
            "Square notes on four lines remained in use for chant until today.",
        ),
        "troubadour songs": (
            "The troubadours wrote in the language of the south about love at a distance.",
            "Far more of their poems survive than of their melodies.",
            "A song began with the birds of spring and ended with a greeting to a patron.",
        ),
        "the motet": (
            "A motet lays two or three texts over a slow chant, each in its own rhythm.",
            "Listeners who understand every word of a motet are rare, then as now.",
            "The lowest voice repeats its pattern while the upper voices hurry above it.",
        ),
        "the hurdy-gurdy": (
            "A wheel rubs the strings of the hurdy-gurdy and keys shorten them from the side.",
            "Its drone strings make one player sound like three.",
            "Large ones, played by two people, taught chant in monasteries.",
        ),
        "vielle and rebec": (
            "The vielle has a flat bridge, so that the bow can sound all its strings at once.",
            "The rebec is pear-shaped, rests on the arm, and cuts through a crowded room.",
            "Nobody wrote down how they were tuned except one friar, and he gives three ways.",
        ),
        "dances": (
            "An estampie repeats each section with an open and a closed ending.",
            "Fewer than fifty dance tunes were written down before the fifteenth century.",
            "Pipe and tabor let one musician lead a whole village.",
        ),
        "early polyphony": (
            "The oldest second voice moves in parallel with the chant at a fifth below.",
            "In Paris the upper voice began to dance over notes held like pillars.",
            "Singers improvised counterpoint long before anybody composed it.",
        ),
    },
    remarks=(
        "The singers of {place} performed {number} pieces about or with {subject} in {year}.",
        "A manuscript at {place} has {number} leaves on {subject}.",
        "Since {year} the summer school at {place} has offered a week of {subject}.",
        "Our ensemble met {subject} at {place}, and has not let go since {year}.",
    ),
    goods=("set of gut strings", "facsimile of a chant book", "wooden recorder", "rosin for old bows", "small bell"),
)
