"""Volcanoes. Their islands and seas share words with the reefs."""

from crawlproject.webs.sample.themes import Theme

VOLCANOES = Theme(
    key="volcanoes",
    name="volcanoes",
    about="eruptions, lava and the people who watch mountains",
    places=("Mount Tessel", "Eldgjáfell", "Ashfall Ridge", "Black Sand Island", "Fumarole Valley", "Caldera Lake"),
    sites=(
        ("crater-catalogue", "The Crater Catalogue", "atlas"),
        ("tephra-society", "The Tephra Society", "society"),
        ("lava-links", "Lava Links", "hub"),
        ("tremor-diary", "Tremor Diary", "notes"),
        ("ash-and-glass", "Ash and Glass", "notes"),
        ("summit-watch", "Summit Watch", "notes"),
        ("tessel-observatory", "Tessel Observatory", "museum"),
        ("caldera-walkers", "Caldera Walkers", "club"),
        ("basalt-shop", "The Basalt Shop", "shop"),
        ("fumarole-post", "Fumarole Post", "notes"),
        ("magma-letters", "Letters on Magma", "notes"),
    ),
    subjects={
        "lava flows": (
            "Smooth lava cools with a skin like cloth; rough lava tumbles forward in blocks.",
            "A lava flow rarely outruns a walker, but nothing stops it.",
            "Tubes under the crust carry molten rock for miles with hardly any loss of heat.",
        ),
        "volcanic ash": (
            "Ash is broken glass and rock, fine enough to cross an ocean on the wind.",
            "A centimetre of wet ash can bring down a flat roof.",
            "Geologists read old eruptions in layers of ash in a road cutting.",
        ),
        "calderas": (
            "A caldera forms when the emptied chamber can no longer carry the mountain.",
            "Many calderas hold lakes, and some lakes hold a new cone.",
            "The floor of a restless caldera rises and sinks by the hand's breadth.",
        ),
        "seismic tremor": (
            "Before an eruption the ground hums with a tremor too low to hear.",
            "A ring of seismometers shows how the magma climbs.",
            "Swarms of small earthquakes are the commonest alarm at an observatory, and the commonest false one.",
        ),
        "magma chemistry": (
            "Magma rich in silica is stiff and holds its gas until it explodes.",
            "Basalt is runny and hot, rhyolite sticky and cooler.",
            "Crystals in the rock keep a record of the depths at which they grew.",
        ),
        "volcanic gases": (
            "Steam, carbon dioxide and sulphur dioxide leave the magma first.",
            "A rising ratio of carbon to sulphur can announce fresh magma from below.",
            "Heavy gas collects in hollows and has killed sheep without a sound.",
        ),
        "pyroclastic currents": (
            "A pyroclastic current is a ground-hugging avalanche of gas and hot ash.",
            "It can cross water and climb ridges, so valleys are not the only places to leave.",
            "The deposits are sorted by size in a way that betrays the speed of the current.",
        ),
        "island volcanoes": (
            "An island volcano builds up from the sea floor and may drown again when it cools.",
            "Where lava meets the sea it shatters into black sand.",
            "The oldest islands of a chain lie farthest from the hot spot.",
        ),
    },
    remarks=(
        "The watchers at {place} logged {subject} on {number} days of {year}.",
        "A field trip to {place} in {year} was all about {subject}.",
        "The archive of {place} holds {number} photographs of {subject}.",
        "In {year} the villagers near {place} asked for a lecture on {subject}.",
    ),
    goods=("basalt paperweight", "map of the crater rim", "hand lens", "jar of black sand", "geologist's hammer"),
)
