//! Places on the earth as 52-bit numbers, cells that cover an area, and distances: the geometry of the GEO commands,
//! computed step by step as the server does, so that every double has the same bits. No keys, no replies.

use std::f64::consts::PI;

/// The lowest and highest latitude that has a number.
const LATITUDES: Range = Range { min: -85.051_128_78, max: 85.051_128_78 };
const LONGITUDES: Range = Range { min: -180.0, max: 180.0 };
/// The latitudes that geohash texts are made for.
const ALL_LATITUDES: Range = Range { min: -90.0, max: 90.0 };
/// How often each side of the world is halved for a whole number.
const STEPS_MAX: u32 = 26;
const SCORE_BITS: u32 = 2 * STEPS_MAX;
/// The quadratic mean radius of WGS 84.
const EARTH_RADIUS_M: f64 = 6_372_797.560_856;
const MERCATOR_MAX_M: f64 = 20_037_726.37;
const RADIANS_PER_DEGREE: f64 = PI / 180.0;
/// The bits of a cell that say where it is from west to east; the others say it from south to north.
const EAST_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;
const NORTH_BITS: u64 = 0x5555_5555_5555_5555;

/// A place in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// From west to east.
    pub longitude: f64,
    /// From south to north.
    pub latitude: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    min: f64,
    max: f64,
}

impl Range {
    fn contains(self, value: f64) -> bool {
        (self.min..=self.max).contains(&value)
    }
    /// Where a value is, in units of 2^-steps of the range.
    fn position(self, value: f64, steps: u32) -> u32 {
        let offset = (value - self.min) / (self.max - self.min);
        (offset * (1u64 << steps) as f64) as u32
    }
    fn at(self, position: u32, steps: u32) -> f64 {
        self.min + f64::from(position) / (1u64 << steps) as f64 * (self.max - self.min)
    }
    /// What lies at a position.
    fn part(self, position: u32, steps: u32) -> Range {
        Range { min: self.at(position, steps), max: self.at(position.wrapping_add(1), steps) }
    }
    fn middle(self) -> f64 {
        (self.min + self.max) / 2.0
    }
}

impl Place {
    /// Whether the place has a number.
    pub fn is_valid(self) -> bool {
        LONGITUDES.contains(self.longitude) && LATITUDES.contains(self.latitude)
    }
    /// The number of the cell of the highest resolution.
    pub fn score(self) -> u64 {
        Cell::around(self, STEPS_MAX, LATITUDES).bits
    }
    /// The middle of the cell with this number. Any score will do: the server takes it for an integer as the
    /// processor does.
    pub fn of_score(score: f64) -> Place {
        let area = Cell { bits: truncate(score), steps: STEPS_MAX }.area();
        Place {
            longitude: area.longitudes.middle().clamp(LONGITUDES.min, LONGITUDES.max),
            latitude: area.latitudes.middle().clamp(LATITUDES.min, LATITUDES.max),
        }
    }
    /// The geohash text, of eleven letters; the last one is always `0`.
    pub fn text(self) -> [u8; 11] {
        const LETTERS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";
        let bits = Cell::around(self, STEPS_MAX, ALL_LATITUDES).bits;
        std::array::from_fn(|at| match SCORE_BITS.checked_sub(5 * (at as u32 + 1)) {
            Some(shift) => LETTERS[(bits >> shift) as usize & 31],
            None => LETTERS[0],
        })
    }
    /// The metres between two places on a great circle.
    pub fn distance_to(self, other: Place) -> f64 {
        let longitude_sine = ((radians(other.longitude) - radians(self.longitude)) / 2.0).sin();
        if longitude_sine == 0.0 {
            return latitude_distance(self.latitude, other.latitude);
        }
        let (from, to) = (radians(self.latitude), radians(other.latitude));
        let latitude_sine = ((to - from) / 2.0).sin();
        let haversine =
            latitude_sine * latitude_sine + from.cos() * to.cos() * longitude_sine * longitude_sine;
        2.0 * EARTH_RADIUS_M * haversine.sqrt().asin()
    }
}

/// The metres between two latitudes.
fn latitude_distance(from: f64, to: f64) -> f64 {
    EARTH_RADIUS_M * (radians(to) - radians(from)).abs()
}

fn radians(degrees: f64) -> f64 {
    degrees * RADIANS_PER_DEGREE
}

fn degrees(radians: f64) -> f64 {
    radians / RADIANS_PER_DEGREE
}

/// A double as an unsigned integer the way the server's code has it: a negative one wraps around, one beyond 2^64 is 0.
fn truncate(value: f64) -> u64 {
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    if value >= 2.0 * HALF {
        0
    } else if value >= HALF {
        value as u64
    } else {
        (value as i64).cast_unsigned()
    }
}

/// A part of the world: each side halved so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    bits: u64,
    steps: u32,
}

/// What a cell covers.
#[derive(Debug, Clone, Copy)]
struct Area {
    longitudes: Range,
    latitudes: Range,
}

/// The directions in which cells are looked at: east and north, each -1, 0 or 1.
const DIRECTIONS: [(i8, i8); 9] =
    [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];

impl Cell {
    fn around(place: Place, steps: u32, latitudes: Range) -> Cell {
        let east = LONGITUDES.position(place.longitude, steps);
        let north = latitudes.position(place.latitude, steps);
        Cell { bits: spread(north) | spread(east) << 1, steps }
    }
    fn area(self) -> Area {
        Area {
            longitudes: LONGITUDES.part(gather(self.bits >> 1), self.steps),
            latitudes: LATITUDES.part(gather(self.bits), self.steps),
        }
    }
    /// The cell next to this one; the world is round in both directions.
    fn neighbour(self, (east, north): (i8, i8)) -> Cell {
        let (east_bits, north_bits) = (self.bits & EAST_BITS, self.bits & NORTH_BITS);
        let shift = 64 - 2 * self.steps;
        let east = moved(east_bits, EAST_BITS >> shift, NORTH_BITS >> shift, east);
        let north = moved(north_bits, NORTH_BITS >> shift, EAST_BITS >> shift, north);
        Cell { bits: east | north, steps: self.steps }
    }
    /// The scores of what is in this cell: from the first up to, but without, the second.
    fn scores(self) -> (f64, f64) {
        let shift = SCORE_BITS - 2 * self.steps;
        ((self.bits << shift) as f64, ((self.bits + 1) << shift) as f64)
    }
}

/// Every other bit of a number moved by one; the bits between are set for the carry to pass.
fn moved(own: u64, mask: u64, between: u64, by: i8) -> u64 {
    match by {
        0 => own,
        1.. => own.wrapping_add(between + 1) & mask,
        _ => (own | between).wrapping_sub(between + 1) & mask,
    }
}

/// The bits of a number in the even places.
fn spread(number: u32) -> u64 {
    let mut bits = u64::from(number);
    for (shift, mask) in HALVES {
        bits = (bits | bits << shift) & mask;
    }
    bits
}

/// The bits in the even places as a number.
fn gather(bits: u64) -> u32 {
    let mut bits = bits & NORTH_BITS;
    for (shift, mask) in [(1, HALVES[3].1), (2, HALVES[2].1), (4, HALVES[1].1), (8, HALVES[0].1)] {
        bits = (bits | bits >> shift) & mask;
    }
    (bits | bits >> 16) as u32
}

const HALVES: [(u32, u64); 5] = [
    (16, 0x0000_ffff_0000_ffff),
    (8, 0x00ff_00ff_00ff_00ff),
    (4, 0x0f0f_0f0f_0f0f_0f0f),
    (2, 0x3333_3333_3333_3333),
    (1, NORTH_BITS),
];

/// The form of an area to search, its sides in the unit of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// What is not farther than this.
    Circle {
        /// The farthest distance.
        radius: f64,
    },
    /// What is not farther to each side than half of this.
    Rectangle {
        /// From west to east.
        width: f64,
        /// From south to north.
        height: f64,
    },
}

/// An area to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Its middle.
    pub centre: Place,
    /// What lies around it.
    pub form: Form,
    /// The metres of the unit that lengths are in.
    pub metres_per_unit: f64,
}

impl Shape {
    /// The distance of a place from the middle in metres; None when the place is not in the area.
    pub fn distance(&self, place: Place) -> Option<f64> {
        match self.form {
            Form::Circle { radius } => {
                let distance = self.centre.distance_to(place);
                // A distance that is no number is not farther.
                let farther = distance > radius * self.metres_per_unit;
                (!farther).then_some(distance)
            }
            Form::Rectangle { width, height } => {
                let at_its_latitude = Place { latitude: place.latitude, ..self.centre };
                let too_far = latitude_distance(place.latitude, self.centre.latitude)
                    > height * self.metres_per_unit / 2.0
                    || place.distance_to(at_its_latitude) > width * self.metres_per_unit / 2.0;
                (!too_far).then(|| self.centre.distance_to(place))
            }
        }
    }
    /// The ranges of scores in which all places of the area are, in the order in which the server looks at them: the
    /// cell in the middle and those around it. Each is from the first score up to, but without, the second.
    pub fn score_ranges(&self) -> impl Iterator<Item = (f64, f64)> + use<> {
        let bounds = self.bounds();
        let mut cell = Cell::around(self.centre, self.steps(), LATITUDES);
        if cell.steps > 1 && !cell.reaches(&bounds) {
            cell = Cell::around(self.centre, cell.steps - 1, LATITUDES);
        }
        let area = cell.area();
        let mut last: Option<Cell> = None;
        DIRECTIONS.into_iter().filter_map(move |direction| {
            if cell.steps >= 2 && area.is_useless(direction, &bounds) {
                return None;
            }
            let next = cell.neighbour(direction);
            if last == Some(next) {
                return None;
            }
            // The server takes the cell in the middle for none.
            last = (direction != (0, 0)).then_some(next).or(last);
            Some(next.scores())
        })
    }
    /// How often to halve the world for cells about as large as the area.
    fn steps(&self) -> u32 {
        let mut radius_m = self.metres_per_unit
            * match self.form {
                Form::Circle { radius } => radius,
                Form::Rectangle { width, height } => {
                    ((width / 2.0) * (width / 2.0) + (height / 2.0) * (height / 2.0)).sqrt()
                }
            };
        if radius_m == 0.0 {
            return STEPS_MAX;
        }
        let mut steps = -1i32;
        while radius_m < MERCATOR_MAX_M {
            radius_m *= 2.0;
            steps += 1;
        }
        // Degrees of longitude are shorter near the poles.
        let latitude = self.centre.latitude.abs();
        steps -= i32::from(latitude > 66.0) + i32::from(latitude > 80.0);
        steps.clamp(1, STEPS_MAX as i32).cast_unsigned()
    }
    /// What the area covers. Its longer side is the one towards the equator: the other is taken for both.
    fn bounds(&self) -> Area {
        let Place { longitude, latitude } = self.centre;
        let (half_width, half_height) = match self.form {
            Form::Circle { radius } => (radius, radius),
            Form::Rectangle { width, height } => (width / 2.0, height / 2.0),
        };
        let half_height = degrees(self.metres_per_unit * half_height / EARTH_RADIUS_M);
        let side = if latitude < 0.0 { latitude - half_height } else { latitude + half_height };
        let half_width = degrees(self.metres_per_unit * half_width / EARTH_RADIUS_M / radians(side).cos());
        Area {
            longitudes: Range { min: longitude - half_width, max: longitude + half_width },
            latitudes: Range { min: latitude - half_height, max: latitude + half_height },
        }
    }
}

impl Cell {
    /// Whether this cell and those around it cover the bounds.
    fn reaches(self, bounds: &Area) -> bool {
        let area = |direction| self.neighbour(direction).area();
        let too_small = area((0, 1)).latitudes.max < bounds.latitudes.max
            || area((0, -1)).latitudes.min > bounds.latitudes.min
            || area((1, 0)).longitudes.max < bounds.longitudes.max
            || area((-1, 0)).longitudes.min > bounds.longitudes.min;
        !too_small
    }
}

impl Area {
    /// Whether the bounds lie so that nothing in this direction can be in them.
    fn is_useless(&self, (east, north): (i8, i8), bounds: &Area) -> bool {
        let south_is_useless = self.latitudes.min < bounds.latitudes.min;
        let north_is_useless = self.latitudes.max > bounds.latitudes.max;
        let west_is_useless = self.longitudes.min < bounds.longitudes.min;
        let east_is_useless = self.longitudes.max > bounds.longitudes.max;
        north < 0 && south_is_useless
            || north > 0 && north_is_useless
            || east < 0 && west_is_useless
            || east > 0 && east_is_useless
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PALERMO: Place = Place { longitude: 13.361389, latitude: 38.115556 };

    #[test]
    fn a_place_has_the_number_and_the_text_that_the_server_gives_it() {
        assert_eq!(PALERMO.score(), 3_479_099_956_230_698);
        let read = Place::of_score(PALERMO.score() as f64);
        assert_eq!(read, Place { longitude: 13.361389338970184, latitude: 38.1155563954963 });
        assert_eq!(&read.text(), b"sqc8b49rny0");
    }

    #[test]
    fn any_score_is_a_place() {
        let all = [-1.0, 0.5, 1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.5e19];
        assert!(all.into_iter().all(|score| Place::of_score(score).is_valid()));
    }

    fn place() -> impl Strategy<Value = Place> {
        let coordinates = (-180.0..=180.0, LATITUDES.min..=LATITUDES.max);
        coordinates.prop_map(|(longitude, latitude)| Place { longitude, latitude })
    }

    proptest! {
        #[test]
        fn a_number_is_read_back_as_a_place_of_that_number(place in place()) {
            let score = place.score();
            prop_assert_eq!(Place::of_score(score as f64).score(), score);
        }

        #[test]
        fn what_is_near_is_in_the_ranges(centre in place(), other in place(), share in 0.01..1.0f64) {
            // Between the two on the map, which is near them unless the map's edge is.
            let between = |a: f64, b: f64| a + (b - a) * share / 100.0;
            let longitude = between(centre.longitude, other.longitude);
            let near = Place { longitude, latitude: between(centre.latitude, other.latitude) };
            let radius = centre.distance_to(near) + 1.0;
            let shape = Shape { centre, form: Form::Circle { radius }, metres_per_unit: 1.0 };
            let score = near.score() as f64;
            prop_assume!(centre.latitude.abs() < 66.0);
            prop_assert!(shape.score_ranges().any(|(min, max)| (min..max).contains(&score)));
        }

        #[test]
        fn odd_lengths_are_no_harm(centre in place(), bits in any::<u64>(), other in any::<u64>()) {
            let (width, height) = (f64::from_bits(bits).abs(), f64::from_bits(other).abs());
            for form in [Form::Circle { radius: width }, Form::Rectangle { width, height }] {
                let shape = Shape { centre, form, metres_per_unit: 1609.34 };
                prop_assert!(shape.score_ranges().count() <= DIRECTIONS.len());
            }
        }
    }
}
