"""Coral reefs: the theme that ``topics/demo.toml`` looks for, so it has the most sites."""

from crawlproject.webs.sample.themes import Theme

CORAL = Theme(
    key="coral",
    name="coral reefs",
    about="corals, the reefs they build and the animals that live there",
    places=("Tern Cay", "Île Nacrée", "Halimeda Bank", "Osprey Atoll", "Port Nacre", "the Sable Lagoon"),
    sites=(
        ("reef-atlas", "Reef Atlas", "atlas"),
        ("coralpedia", "The Coral Pages", "atlas"),
        ("polyp-society", "The Polyp Society", "society"),
        ("reefwatch-nacre", "Reef Watch Port Nacre", "society"),
        ("reef-links", "Reef Links", "hub"),
        ("lagoon-notes", "Lagoon Notebook", "notes"),
        ("under-the-swell", "Under the Swell", "notes"),
        ("bleachwatch", "Bleach Watch Diary", "notes"),
        ("atoll-letters", "Letters from an Atoll", "notes"),
        ("parrotfish-log", "The Parrotfish Log", "notes"),
        ("night-dive", "Night Dive", "notes"),
        ("slow-growth", "Slow Growth", "notes"),
        ("reef-museum", "Museum of the Living Reef", "museum"),
        ("osprey-station", "Osprey Atoll Field Station", "museum"),
        ("nacre-divers", "Nacre Divers", "club"),
        ("snorkel-sundays", "Snorkel Sundays", "club"),
        ("frag-and-tank", "Frag and Tank", "shop"),
        ("reef-gardeners", "The Reef Gardeners", "society"),
    ),
    subjects={
        "coral bleaching": (
            "Coral bleaching begins when warm water makes a polyp expel the algae that feed it.",
            "A bleached coral is pale but alive, and it can recover if the heat does not last.",
            "Divers compare the colour of a colony with a printed card to record how far it has bleached.",
        ),
        "coral polyps": (
            "A polyp is a soft animal the size of a lentil, with a ring of tentacles around its mouth.",
            "Thousands of coral polyps share one skeleton and pass food to each other through thin living tissue.",
            "At night the polyps stretch out of their cups and sting passing plankton.",
        ),
        "reef-building corals": (
            "Reef-building corals lay down limestone beneath themselves, a few millimetres to some centimetres a year.",
            "Branching staghorn corals grow fast and break in storms; brain corals grow slowly and last centuries.",
            "A core drilled from an old coral shows a band for every year, like the rings of a tree.",
        ),
        "symbiotic algae": (
            "The algae in coral tissue turn sunlight into sugar and give most of it to their host.",
            "Symbiotic algae need clear water, which is why coral reefs grow where rivers carry little mud.",
            "Some strains of the algae tolerate heat better, and a coral may shuffle its partners after bleaching.",
        ),
        "reef fish": (
            "Reef fish divide the day between them: the grazers sleep when the squirrelfish come out to hunt.",
            "Parrotfish scrape algae from dead coral and grind the limestone into white sand.",
            "Cleaner wrasse wait at fixed stations on the reef, and larger fish queue to be picked free of parasites.",
        ),
        "coral spawning": (
            "Once a year, a few nights after a full moon, the corals of a whole reef spawn together.",
            "Bundles of eggs and sperm drift to the surface and make pink slicks that can be seen from the air.",
            "A coral larva swims for some days, tastes the rock, and settles for life.",
        ),
        "atolls and barrier reefs": (
            "An atoll is a ring of coral reef around a lagoon where an island has sunk out of sight.",
            "Barrier reefs stand far from the shore and break the swell before it reaches the lagoon.",
            "Fringing reefs, barrier reefs and atolls can be stages in the life of one sinking island.",
        ),
        "reef restoration": (
            "Gardeners of the reef raise coral fragments on ropes and plant them out when they are as big as a hand.",
            "Restoration helps a damaged reef only where the cause of the damage has gone.",
            "Fragments are fixed with cement or with nails, and counted again after one year and after five.",
        ),
        "crown-of-thorns starfish": (
            "A crown-of-thorns starfish pushes its stomach out over living coral and digests it in place.",
            "Outbreaks of the starfish can strip a reef of hard corals within two seasons.",
            "Giant tritons hunt the starfish, and reefs where the shells were collected suffer more.",
        ),
        "ocean acidification and reefs": (
            "As sea water takes up carbon dioxide, corals need more energy to build their skeletons.",
            "On acidified reefs boring sponges and worms remove limestone faster than corals replace it.",
            "Natural seeps of carbon dioxide let biologists see what a reef of the future may look like.",
        ),
    },
    remarks=(
        "Our reef survey at {place} in {year} noted {subject} along {number} transects.",
        "Volunteers at {place} have recorded {subject} on the reef since {year}.",
        "In {year} the marine biology class from {place} wrote {number} pages on {subject} and coral health.",
        "Whoever dives at {place} after a storm comes home with new thoughts on {subject} and the coral reef.",
        "The reef off {place} covers {number} hectares, and hardly any of it has been mapped for {subject}.",
    ),
    goods=("coral identification card", "dive slate for reef surveys", "reef fish poster", "live rock", "coral food"),
)
