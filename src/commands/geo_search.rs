//! Searching for places: around a point or a member, in a circle or a rectangle, answered or stored. One handler for the
//! six commands, as they share their options. Single places are in `geo`, the geometry in `util::geohash`.

use super::geo::{place, place_of, unit, write_place};
use crate::command::args::{Args, int, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::store::{Event, Expiry};
use crate::util::float::{format_distance, parse_f64};
use crate::util::geohash::{Form, Place, Shape};
use crate::util::num::NumBuf;
use crate::util::sort::{merge_sort, partial_sort};
use crate::value::Value;
use crate::value::zset::ZSet;
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "georadius",
        usage: "GEORADIUS key longitude latitude radius unit=(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] count=[COUNT count [ANY@6.2.0]] order=[ASC|DESC] [STORE key] [STOREDIST key]",
        summary: "Query a sorted set representing a geospatial index to fetch members matching a given maximum distance from a point",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) where N is the number of elements inside the bounding box of the circular area delimited by center and radius and M is the number of items inside the index.",
        history: &[
            ("6.2.0", "Added the `ANY` option for `COUNT`."),
            ("7.0.0", "Added support for uppercase unit names."),
        ],
        deprecated: Some(("6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument")),
        flags: WRITE | DENYOOM,
        keys: &[at(1, RO | ACCESS), after("STORE", 6, OW | UPDATE), after("STOREDIST", 6, OW | UPDATE)],
        run: georadius,
        ..Spec::BASE
    },
    Spec {
        name: "georadius_ro",
        usage: "GEORADIUS_RO key longitude latitude radius unit=(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] count=[COUNT count [ANY@6.2.0]] order=[ASC|DESC]",
        summary: "A read-only variant for GEORADIUS",
        since: "3.2.10",
        group: Group::Geo,
        complexity: "O(N+log(M)) where N is the number of elements inside the bounding box of the circular area delimited by center and radius and M is the number of items inside the index.",
        history: &[("6.2.0", "Added the `ANY` option for `COUNT`.")],
        deprecated: Some(("6.2.0", "`GEOSEARCH` with the `BYRADIUS` argument")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: georadius_ro,
        ..Spec::BASE
    },
    Spec {
        name: "georadiusbymember",
        usage: "GEORADIUSBYMEMBER key member radius unit=(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] count=[COUNT count [ANY]] order=[ASC|DESC] [STORE key] [STOREDIST key]",
        summary: "Query a sorted set representing a geospatial index to fetch members matching a given maximum distance from a member",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) where N is the number of elements inside the bounding box of the circular area delimited by center and radius and M is the number of items inside the index.",
        history: &[("7.0.0", "Added support for uppercase unit names.")],
        deprecated: Some((
            "6.2.0",
            "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments",
        )),
        flags: WRITE | DENYOOM,
        keys: &[at(1, RO | ACCESS), after("STORE", 5, OW | UPDATE), after("STOREDIST", 5, OW | UPDATE)],
        run: georadiusbymember,
        ..Spec::BASE
    },
    Spec {
        name: "georadiusbymember_ro",
        usage: "GEORADIUSBYMEMBER_RO key member radius unit=(M|KM|FT|MI) [WITHCOORD] [WITHDIST] [WITHHASH] count=[COUNT count [ANY]] order=[ASC|DESC]",
        summary: "A read-only variant for GEORADIUSBYMEMBER",
        since: "3.2.10",
        group: Group::Geo,
        complexity: "O(N+log(M)) where N is the number of elements inside the bounding box of the circular area delimited by center and radius and M is the number of items inside the index.",
        deprecated: Some(("6.2.0", "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments")),
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: georadiusbymember_ro,
        ..Spec::BASE
    },
    Spec {
        name: "geosearch",
        usage: "GEOSEARCH key from=(FROMMEMBER member|FROMLONLAT longitude_latitude=(longitude latitude)) by=(circle=(BYRADIUS radius unit=(M|KM|FT|MI))|box=(BYBOX width height unit=(M|KM|FT|MI))) order=[ASC|DESC] count=[COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]",
        summary: "Query a sorted set representing a geospatial index to fetch members inside an area of a box or a circle.",
        since: "6.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) where N is the number of elements in the grid-aligned bounding box area around the shape provided as the filter and M is the number of items inside the shape",
        history: &[("7.0.0", "Added support for uppercase unit names.")],
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: geosearch,
        ..Spec::BASE
    },
    Spec {
        name: "geosearchstore",
        usage: "GEOSEARCHSTORE destination source from=(FROMMEMBER member|FROMLONLAT longitude_latitude=(longitude latitude)) by=(circle=(BYRADIUS radius unit=(M|KM|FT|MI))|box=(BYBOX width height unit=(M|KM|FT|MI))) order=[ASC|DESC] count=[COUNT count [ANY]] [STOREDIST]",
        summary: "Query a sorted set representing a geospatial index to fetch members inside an area of a box or a circle, and store the result in another key.",
        since: "6.2.0",
        group: Group::Geo,
        complexity: "O(N+log(M)) where N is the number of elements in the grid-aligned bounding box area around the shape provided as the filter and M is the number of items inside the shape",
        history: &[("7.0.0", "Added support for uppercase unit names.")],
        flags: WRITE | DENYOOM,
        keys: &[at(1, OW | UPDATE), at(2, RO | ACCESS)],
        run: geosearchstore,
        ..Spec::BASE
    },
];

/// Which of the commands it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// GEORADIUS and GEORADIUS_RO.
    AroundPlace,
    /// GEORADIUSBYMEMBER and its reading form.
    AroundMember,
    Search,
    SearchStore,
}

impl Kind {
    fn is_search(self) -> bool {
        matches!(self, Kind::Search | Kind::SearchStore)
    }
}

/// Where the search begins, as the options of GEOSEARCH say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Member,
    Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Nearest,
    Farthest,
}

/// A call, read.
struct Query<'a> {
    kind: Kind,
    /// STORE and STOREDIST are options.
    may_store: bool,
    origin: Option<Origin>,
    centre: Place,
    form: Option<Form>,
    metres_per_unit: f64,
    withdist: bool,
    withhash: bool,
    withcoord: bool,
    direction: Option<Direction>,
    /// 0 for all.
    count: usize,
    any: bool,
    destination: Option<&'a [u8]>,
    /// Distances are stored, not the numbers of the places.
    storedist: bool,
}

impl<'a> Query<'a> {
    fn new(kind: Kind, may_store: bool) -> Self {
        Query {
            kind,
            may_store,
            origin: None,
            centre: Place { longitude: 0.0, latitude: 0.0 },
            form: None,
            metres_per_unit: 1.0,
            withdist: false,
            withhash: false,
            withcoord: false,
            direction: None,
            count: 0,
            any: false,
            destination: None,
            storedist: false,
        }
    }
    /// Reads all words behind the key, of which `zset` is the value.
    fn parse(&mut self, args: &mut Args<'a>, zset: Option<&ZSet>) -> Result<(), Failure> {
        match self.kind {
            Kind::AroundPlace => {
                self.centre = place(args.word()?, args.word()?)?;
                self.radius(args)?;
            }
            Kind::AroundMember => {
                let member = args.word()?;
                self.around(member, zset)?;
                if zset.is_some() {
                    self.radius(args)?;
                } else {
                    // Nobody looks at the radius.
                    args.nth(1);
                }
            }
            Kind::Search | Kind::SearchStore => {}
        }
        while let Some(word) = args.next() {
            let known = self.flag(word) || self.limit(word, args)? || self.store(word, args);
            if !known && !self.area(word, args, zset)? {
                return Err(Failure::Syntax);
            }
        }
        Ok(())
    }
    fn around(&mut self, member: &[u8], zset: Option<&ZSet>) -> Result<(), Failure> {
        if let Some(zset) = zset {
            self.centre = place_of(zset, member).ok_or(Failure::NO_SUCH_PLACE)?;
        }
        Ok(())
    }
    fn radius(&mut self, args: &mut Args<'_>) -> Result<(), Failure> {
        let radius = parse_f64(args.word()?).ok_or(Failure::RADIUS_NOT_FLOAT)?;
        if radius < 0.0 {
            return Err(Failure::NEGATIVE_RADIUS);
        }
        self.metres_per_unit = unit(args.word()?)?;
        self.form = Some(Form::Circle { radius });
        Ok(())
    }
    fn rectangle(&mut self, args: &mut Args<'_>) -> Result<(), Failure> {
        let width = parse_f64(args.word()?).ok_or(Failure::WIDTH_NOT_FLOAT)?;
        let height = parse_f64(args.word()?).ok_or(Failure::HEIGHT_NOT_FLOAT)?;
        if width < 0.0 || height < 0.0 {
            return Err(Failure::NEGATIVE_SIDE);
        }
        self.metres_per_unit = unit(args.word()?)?;
        self.form = Some(Form::Rectangle { width, height });
        Ok(())
    }
    /// Takes an option of one word.
    fn flag(&mut self, word: &[u8]) -> bool {
        if is(word, "WITHDIST") {
            self.withdist = true;
        } else if is(word, "WITHHASH") {
            self.withhash = true;
        } else if is(word, "WITHCOORD") {
            self.withcoord = true;
        } else if is(word, "ANY") {
            self.any = true;
        } else if is(word, "ASC") {
            self.direction = Some(Direction::Nearest);
        } else if is(word, "DESC") {
            self.direction = Some(Direction::Farthest);
        } else {
            return false;
        }
        true
    }
    fn limit(&mut self, word: &[u8], args: &mut Args<'_>) -> Result<bool, Failure> {
        if !is(word, "COUNT") || args.is_done() {
            return Ok(false);
        }
        let count = int(args.word()?)?;
        if count <= 0 {
            return Err(Failure::COUNT_NOT_ABOVE_ZERO);
        }
        self.count = usize::try_from(count).unwrap_or(usize::MAX);
        Ok(true)
    }
    fn store(&mut self, word: &[u8], args: &mut Args<'a>) -> bool {
        let by_distance = is(word, "STOREDIST");
        if self.kind == Kind::SearchStore && by_distance {
            self.storedist = true;
            return true;
        }
        if !self.may_store || self.kind.is_search() || !(by_distance || is(word, "STORE")) {
            return false;
        }
        let Some(key) = args.next() else { return false };
        self.destination = Some(key);
        self.storedist = by_distance;
        true
    }
    /// Takes an option of GEOSEARCH that says where to search.
    fn area(&mut self, word: &[u8], args: &mut Args<'a>, zset: Option<&ZSet>) -> Result<bool, Failure> {
        if !self.kind.is_search() {
            return Ok(false);
        }
        let left = args.left();
        if is(word, "FROMMEMBER") && left >= 1 && self.origin != Some(Origin::Place) {
            let member = args.word()?;
            self.around(member, zset)?;
            self.origin = Some(Origin::Member);
        } else if is(word, "FROMLONLAT") && left >= 2 && self.origin != Some(Origin::Member) {
            self.centre = place(args.word()?, args.word()?)?;
            self.origin = Some(Origin::Place);
        } else if is(word, "BYRADIUS") && left >= 2 && !matches!(self.form, Some(Form::Rectangle { .. })) {
            self.radius(args)?;
        } else if is(word, "BYBOX") && left >= 3 && !matches!(self.form, Some(Form::Circle { .. })) {
            self.rectangle(args)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
    /// Whether the options go together.
    fn check(&self, command: &[u8]) -> Result<(), Failure> {
        if self.destination.is_some() && (self.withdist || self.withhash || self.withcoord) {
            return Err(match self.kind {
                Kind::SearchStore => Failure::GEOSEARCHSTORE_WITH,
                _ => Failure::GEORADIUS_STORE_WITH,
            });
        }
        if self.kind.is_search() && self.origin.is_none() {
            return Err(Failure::no_search_origin(command));
        }
        if self.kind.is_search() && self.form.is_none() {
            return Err(Failure::no_search_form(command));
        }
        if self.any && self.count == 0 {
            return Err(Failure::ANY_WITHOUT_COUNT);
        }
        Ok(())
    }
    /// The places found: sorted as asked for, and no more than asked for.
    fn find<'z>(&self, zset: &'z ZSet) -> Vec<Found<'z>> {
        let Some(form) = self.form else { return Vec::new() };
        let shape = Shape { centre: self.centre, form, metres_per_unit: self.metres_per_unit };
        let enough = if self.any { self.count } else { usize::MAX };
        let mut found = all_in(zset, &shape, enough);
        let wanted = if self.count == 0 { found.len() } else { found.len().min(self.count) };
        // The nearest are meant where a number is asked for, but not just any.
        let by_default = (self.count > 0 && !self.any).then_some(Direction::Nearest);
        if let Some(direction) = self.direction.or(by_default) {
            let compare = |a: &Found<'_>, b: &Found<'_>| match direction {
                Direction::Nearest => nearer(a, b),
                Direction::Farthest => nearer(a, b).reverse(),
            };
            if wanted == found.len() {
                merge_sort(&mut found, &compare);
            } else {
                partial_sort(&mut found, 0..wanted, &compare);
            }
        }
        found.truncate(wanted);
        for found in &mut found {
            found.distance /= self.metres_per_unit;
        }
        found
    }
    fn answer(&self, found: &[Found<'_>], out: &mut Reply) {
        let details = [self.withdist, self.withhash, self.withcoord].into_iter().filter(|with| *with).count();
        out.array(found.len());
        for found in found {
            if details > 0 {
                out.array(1 + details);
            }
            out.bulk(found.member);
            if self.withdist {
                out.bulk(format_distance(&mut NumBuf::new(), found.distance));
            }
            if self.withhash {
                out.int(found.score as i64);
            }
            if self.withcoord {
                write_place(found.place, out);
            }
        }
    }
}

/// A place that was found.
#[derive(Clone, Copy)]
struct Found<'z> {
    member: &'z [u8],
    score: f64,
    place: Place,
    /// From the middle of the search; in metres at first, then in the unit of the search.
    distance: f64,
}

/// A distance that is no number is nearer than any.
fn nearer(a: &Found<'_>, b: &Found<'_>) -> Ordering {
    if a.distance > b.distance {
        Ordering::Greater
    } else if a.distance == b.distance {
        Ordering::Equal
    } else {
        Ordering::Less
    }
}

/// The places in an area, cell by cell, until there are enough.
fn all_in<'z>(zset: &'z ZSet, shape: &Shape, enough: usize) -> Vec<Found<'z>> {
    let mut all = Vec::new();
    for (min, max) in shape.score_ranges() {
        let ranks = zset.ranks_by_score(Bound::Included(min), Bound::Excluded(max));
        for (member, score) in zset.range(ranks) {
            let place = Place::of_score(score);
            if let Some(distance) = shape.distance(place) {
                all.push(Found { member, score, place, distance });
            }
            if all.len() >= enough {
                return all;
            }
        }
    }
    all
}

fn georadius(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    search(cx, argv, Query::new(Kind::AroundPlace, true), out)
}

fn georadius_ro(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    search(cx, argv, Query::new(Kind::AroundPlace, false), out)
}

fn georadiusbymember(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    search(cx, argv, Query::new(Kind::AroundMember, true), out)
}

fn georadiusbymember_ro(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    search(cx, argv, Query::new(Kind::AroundMember, false), out)
}

fn geosearch(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    search(cx, argv, Query::new(Kind::Search, false), out)
}

fn geosearchstore(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let mut query = Query::new(Kind::SearchStore, true);
    query.destination = Some(argv[1]);
    search(cx, argv, query, out)
}

fn search<'a>(
    cx: &mut Ctx<'_>,
    argv: Argv<'a>,
    mut query: Query<'a>,
    out: &mut Reply,
) -> Result<Flow, Failure> {
    let source_at = if query.kind == Kind::SearchStore { 2 } else { 1 };
    let source = match cx.read(argv[source_at]).map(|entry| entry.value()) {
        None => None,
        Some(Value::ZSet(zset)) => Some(zset.clone()),
        Some(_) => return Err(Failure::WrongType),
    };
    query.parse(&mut Args::new(argv, source_at + 1), source.as_deref())?;
    query.check(argv[0])?;
    let found = source.as_deref().map(|zset| query.find(zset)).unwrap_or_default();
    match query.destination {
        None => query.answer(&found, out),
        Some(destination) => {
            store(cx, destination, &found, &query);
            out.int(found.len() as i64);
        }
    }
    Ok(Flow::Done)
}

/// Stores what was found, or removes the key when nothing was.
fn store(cx: &mut Ctx<'_>, destination: &[u8], found: &[Found<'_>], query: &Query<'_>) {
    if found.is_empty() {
        cx.discard(destination, Event::generic("del"));
        return;
    }
    let score = |found: &Found<'_>| if query.storedist { found.distance.max(0.0) } else { found.score };
    let pairs: Vec<(&[u8], f64)> = found.iter().map(|found| (found.member, score(found))).collect();
    let zset = ZSet::collect(&pairs, &cx.state.config.zset_limits());
    let event = if query.kind.is_search() { "geosearchstore" } else { "georadiusstore" };
    cx.put(destination, Value::ZSet(Arc::new(zset)), Expiry::Clear, Event::zset(event));
}
