//! Places: adding them to a sorted set, whose scores are numbers of places, and what a single place is. Searching is in
//! `geo_search`, the geometry in `util::geohash`.

use super::zsets::{read_zset, zadd};
use crate::command::args::{Args, is};
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::float::{format_distance, parse_f64};
use crate::util::geohash::Place;
use crate::util::num::NumBuf;
use crate::value::zset::ZSet;

pub(crate) static SPECS: &[Spec] = &[
    Spec {
        name: "geoadd",
        usage: "GEOADD key condition=[NX|XX]@6.2.0 [change=CH@6.2.0] longitude_latitude_member=(longitude latitude member)...",
        summary: "Add one or more geospatial items in the geospatial index represented using a sorted set",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(log(N)) for each item added, where N is the number of elements in the sorted set.",
        history: &[("6.2.0", "Added the `CH`, `NX` and `XX` options.")],
        flags: WRITE | DENYOOM,
        keys: &[at(1, RW | UPDATE)],
        run: geoadd,
        ..Spec::BASE
    },
    Spec {
        name: "geodist",
        usage: "GEODIST key member1 member2 unit=[M|KM|FT|MI]",
        summary: "Returns the distance between two members of a geospatial index",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(log(N))",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: geodist,
        ..Spec::BASE
    },
    Spec {
        name: "geohash",
        usage: "GEOHASH key member...",
        arity: -2,
        summary: "Returns members of a geospatial index as standard geohash strings",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(log(N)) for each member requested, where N is the number of elements in the sorted set.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: geohash,
        ..Spec::BASE
    },
    Spec {
        name: "geopos",
        usage: "GEOPOS key member...",
        arity: -2,
        summary: "Returns longitude and latitude of members of a geospatial index",
        since: "3.2.0",
        group: Group::Geo,
        complexity: "O(N) where N is the number of members requested.",
        flags: READONLY,
        keys: &[at(1, RO | ACCESS)],
        run: geopos,
        ..Spec::BASE
    },
];

/// Two words as a place that has a number.
pub(super) fn place(longitude: &[u8], latitude: &[u8]) -> Result<Place, Failure> {
    let longitude = parse_f64(longitude).ok_or(Failure::NotFloat)?;
    let latitude = parse_f64(latitude).ok_or(Failure::NotFloat)?;
    let place = Place { longitude, latitude };
    if place.is_valid() { Ok(place) } else { Err(Failure::no_place(longitude, latitude)) }
}

/// The metres in a unit.
pub(super) fn unit(word: &[u8]) -> Result<f64, Failure> {
    let all = [("m", 1.0), ("km", 1000.0), ("ft", 0.3048), ("mi", 1609.34)];
    let found = all.into_iter().find(|(name, _)| is(word, name));
    found.map(|(_, metres)| metres).ok_or(Failure::UNSUPPORTED_UNIT)
}

/// Where a member is.
pub(super) fn place_of(zset: &ZSet, member: &[u8]) -> Option<Place> {
    zset.score(member).map(Place::of_score)
}

/// ZADD with the numbers of the places, and propagated as that.
fn geoadd(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let args = &mut Args::new(argv, 2);
    let (mut nx, mut xx) = (false, false);
    loop {
        if args.take("NX") {
            nx = true;
        } else if args.take("XX") {
            xx = true;
        } else if !args.take("CH") {
            break;
        }
    }
    let (places, []) = args.rest().as_chunks::<3>() else { return Err(Failure::Syntax) };
    if nx && xx {
        return Err(Failure::Syntax);
    }
    let scores = places.iter().map(|[longitude, latitude, _]| place(longitude, latitude));
    let scores = scores.map(|place| Ok(place?.score().to_string())).collect::<Result<Vec<_>, Failure>>()?;
    let mut words = argv[..args.index()].to_vec();
    words[0] = b"zadd";
    for (score, [.., member]) in scores.iter().zip(places) {
        words.extend([score.as_bytes(), member]);
    }
    let dirty = cx.state.store.dirty();
    let flow = zadd(cx, &words, out)?;
    if cx.state.store.dirty() != dirty {
        cx.propagate(&words);
    }
    Ok(flow)
}

fn geodist(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let metres_per_unit = match argv[4..] {
        [] => 1.0,
        [word] => unit(word)?,
        _ => return Err(Failure::Syntax),
    };
    let zset = read_zset(cx, argv[1])?;
    let ends = zset.and_then(|zset| Some((place_of(zset, argv[2])?, place_of(zset, argv[3])?)));
    match ends {
        Some((from, to)) => {
            out.bulk(format_distance(&mut NumBuf::new(), from.distance_to(to) / metres_per_unit))
        }
        None => out.nil(),
    }
    Ok(Flow::Done)
}

fn geohash(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let zset = read_zset(cx, argv[1])?;
    out.array(argv.len() - 2);
    for member in &argv[2..] {
        let place = zset.and_then(|zset| place_of(zset, member));
        out.bulk_or_nil(place.map(Place::text).as_ref().map(<[u8; 11]>::as_slice));
    }
    Ok(Flow::Done)
}

fn geopos(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let zset = read_zset(cx, argv[1])?;
    out.array(argv.len() - 2);
    for member in &argv[2..] {
        match zset.and_then(|zset| place_of(zset, member)) {
            Some(place) => write_place(place, out),
            None => out.nil_array(),
        }
    }
    Ok(Flow::Done)
}

/// Writes the coordinates of a place.
pub(super) fn write_place(place: Place, out: &mut Reply) {
    out.array(2);
    out.coordinate(place.longitude);
    out.coordinate(place.latitude);
}
