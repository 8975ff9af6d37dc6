"""Railways."""

from crawlproject.webs.sample.themes import Theme

RAILWAYS = Theme(
    key="railways",
    name="railways",
    about="engines, lines and signals, steam and after",
    places=("Junction Halt", "the Harrow Vale line", "Coalbridge", "the Sandling tunnel", "Pike Viaduct", "Übersbrück"),
    sites=(
        ("branch-line-index", "The Branch Line Index", "atlas"),
        ("footplate-society", "The Footplate Society", "society"),
        ("rail-links", "Rail Links", "hub"),
        ("signal-box-diary", "Signal Box Diary", "notes"),
        ("narrow-gauge-days", "Narrow Gauge Days", "notes"),
        ("timetable-reader", "The Timetable Reader", "notes"),
        ("roundhouse-museum", "The Roundhouse Museum", "museum"),
        ("harrow-vale-railway", "Harrow Vale Railway Club", "club"),
        ("rivet-and-rail", "Rivet and Rail", "shop"),
        ("viaduct-letters", "Viaduct Letters", "notes"),
        ("permanent-way", "Permanent Way", "notes"),
    ),
    subjects={
        "steam locomotives": (
            "Steam enters the cylinder, pushes the piston, and leaves by the chimney with a bark.",
            "An engine is lit eight hours before it can pull a train.",
            "The fireman feeds the grate a little and often, thin at the front and thick at the back.",
        ),
        "signalling": (
            "Only one train may be in a block section at a time.",
            "Levers in the signal box are interlocked, so that no two can set trains against each other.",
            "A token carried by the driver is the oldest way to keep a single line safe.",
        ),
        "track and ballast": (
            "Ballast drains the track and holds the sleepers where the gauge wants them.",
            "Rails are welded under tension so that a hot day does not buckle them.",
            "A gang with bars can still move a mile of track by a hand's breadth in a night.",
        ),
        "viaducts and tunnels": (
            "The line keeps its level by viaducts over valleys and tunnels under hills.",
            "A brick viaduct of twenty arches took three summers to build.",
            "The two headings of the tunnel met with an error of two inches.",
        ),
        "narrow gauge lines": (
            "Narrow gauge climbs steep valleys because its curves may be tight.",
            "Slate and sugar paid for most narrow gauge lines, and lorries ended them.",
            "Small engines are easier to save, so many still run on Sundays.",
        ),
        "timetables": (
            "Before the railways every town kept its own time.",
            "A graph of distance against time shows at a glance where trains must meet.",
            "A good timetable repeats itself every hour and needs no leaflet.",
        ),
        "electric traction": (
            "Electric trains return their energy to the wire when they brake.",
            "The pantograph presses on the wire with the weight of a small dog.",
            "A third rail is cheap to build and dangerous to walk beside.",
        ),
        "stations": (
            "The great train sheds were built wide so that smoke could rise.",
            "A country station had a clock, a stove and a bed of marigolds.",
            "Closed stations live on as libraries and tea rooms.",
        ),
    },
    remarks=(
        "The volunteers of {place} gave {number} weekends of {year} to {subject}.",
        "A talk at {place} in {year} explained {subject} with a model.",
        "The archive at {place} keeps {number} drawings of {subject}.",
        "Whoever travels by {place} should look out for {subject}.",
    ),
    goods=("enamel station sign", "guard's whistle", "book of gradients", "model wagon kit", "reprinted timetable"),
)
