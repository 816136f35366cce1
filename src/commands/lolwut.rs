//! LOLWUT: a picture for people, of squares that tumble or of a skyline at night, drawn anew each time from the engine's
//! generator; else the version.

use crate::command::args::int;
use crate::command::spec::*;
use crate::command::{Argv, Ctx, Flow, REDIS_VERSION};
use crate::error::Failure;
use crate::reply::Reply;
use crate::util::rng::Rng;

pub(crate) static SPECS: &[Spec] = &[Spec {
    name: "lolwut",
    usage: "LOLWUT [VERSION version]",
    summary: "Display some computer art and the Redis version",
    since: "5.0.0",
    group: Group::Server,
    flags: READONLY | FAST,
    run: lolwut,
    ..Spec::BASE
}];

fn lolwut(cx: &mut Ctx<'_>, argv: Argv<'_>, out: &mut Reply) -> Result<Flow, Failure> {
    let (version, sizes) = match argv {
        [_, word, version, rest @ ..] if word.eq_ignore_ascii_case(b"version") => (Some(int(version)?), rest),
        _ => (None, &argv[1..]),
    };
    let size = |at: usize, default: i64, max: i64| -> Result<usize, Failure> {
        let given = sizes.get(at).map_or(Ok(default), |word| int(word))?;
        Ok(given.clamp(1, max) as usize)
    };
    let text = match version {
        Some(5) => {
            let (width, columns, rows) = (size(0, 66, 1000)?, size(1, 8, 200)?, size(2, 12, 200)?);
            cx.with_rng(|_, rng| tumbling_squares(width, columns, rows, rng))
                + "\nGeorg Nees - schotter, plotter on paper, 1968. "
        }
        Some(6) => {
            let (width, height) = (size(0, 80, 1000)?, size(1, 20, 1000)?);
            cx.with_rng(|_, rng| skyline(width, height, rng))
                + "\nDedicated to the 8 bit game developers of past and present.\nOriginal 8 bit image from Plaguemon by hikikomori. "
        }
        _ => String::new(),
    };
    out.verbatim(*b"txt", format!("{text}Redis ver. {REDIS_VERSION}\n").as_bytes());
    Ok(Flow::Done)
}

/// Dots, or shades, in rows.
struct Canvas {
    width: usize,
    dots: Vec<u8>,
}

impl Canvas {
    fn new(width: usize, height: usize, shade: u8) -> Self {
        Canvas { width, dots: vec![shade; width * height] }
    }
    fn set(&mut self, x: f32, y: f32, shade: u8) {
        let fits = x >= 0.0 && y >= 0.0 && (x as usize) < self.width;
        if let Some(dot) = self.dots.get_mut(y as usize * self.width + x as usize).filter(|_| fits) {
            *dot = shade;
        }
    }
    fn get(&self, x: usize, y: usize) -> u8 {
        self.dots.get(y * self.width + x).copied().filter(|_| x < self.width).unwrap_or_default()
    }
    fn height(&self) -> usize {
        self.dots.len() / self.width.max(1)
    }
    fn line(&mut self, from: (f32, f32), to: (f32, f32)) {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let steps = dx.abs().max(dy.abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let part = step as f32 / steps;
            self.set((from.0 + dx * part).round(), (from.1 + dy * part).round(), 1);
        }
    }
    /// Each letter shows two columns of four dots.
    fn braille(&self) -> String {
        const BITS: [(usize, usize); 8] = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
        let mut text = String::new();
        for y in (0..self.height()).step_by(4) {
            for x in (0..self.width).step_by(2) {
                let bits = (0u32..).zip(BITS).filter(|(_, (dx, dy))| self.get(x + dx, y + dy) != 0);
                let code = bits.fold(0x2800, |code, (bit, _)| code | 1 << bit);
                text.extend(char::from_u32(code));
            }
            text.push('\n');
        }
        text.trim_end_matches('\n').to_owned()
    }
    /// Each letter is a blank in one of four shades.
    fn shades(&self) -> String {
        const SHADES: [&str; 4] = ["0;30;40m", "0;90;100m", "0;37;47m", "0;97;107m"];
        let mut text = String::new();
        for row in self.dots.chunks(self.width) {
            for shade in row {
                text += &format!("\x1b[{} \x1b[0m", SHADES[usize::from(shade & 3)]);
            }
            text.push('\n');
        }
        text.trim_end_matches('\n').to_owned()
    }
}

/// Squares in rows; the lower the row, the less order there is.
fn tumbling_squares(width: usize, columns: usize, rows: usize, rng: &mut Rng) -> String {
    let dots = width * 2;
    let margin = if dots > 4 { 2.0 } else { 0.0 };
    let side = (dots as f32 - margin * 2.0) / columns as f32;
    let mut canvas = Canvas::new(dots, (side * rows as f32 + margin * 2.0) as usize, 0);
    let mut chance = || (rng.below(2001) as f32 - 1000.0) / 1000.0;
    for row in 0..rows {
        let disorder = if row > 1 { row as f32 / rows as f32 } else { 0.0 };
        for column in 0..columns {
            let middle = |at: usize, off: f32| (at as f32 + 0.5 + off * disorder / 3.0) * side + margin;
            let (x, y, turn) = (middle(column, chance()), middle(row, chance()), chance() * disorder);
            let corner = |quarter: f32| {
                let angle = (quarter + 0.5) * std::f32::consts::FRAC_PI_2 + turn;
                let reach = side * std::f32::consts::FRAC_1_SQRT_2;
                (x + angle.sin() * reach, y + angle.cos() * reach)
            };
            (0..4).for_each(|quarter| canvas.line(corner(quarter as f32), corner(quarter as f32 + 1.0)));
        }
    }
    canvas.braille()
}

/// Three rows of houses, the nearest one dark with lit windows.
fn skyline(width: usize, height: usize, rng: &mut Rng) -> String {
    let mut canvas = Canvas::new(width, height, 3);
    for shade in [2, 1, 0] {
        let mut left = rng.below(8) as usize;
        while left < width {
            let (broad, tall) =
                (6 + rng.below(12) as usize, height / 3 + rng.below(height as u64 / 2 + 1) as usize);
            for y in height.saturating_sub(tall)..height {
                for x in left..(left + broad).min(width) {
                    let is_window = shade == 0
                        && (x - left) % 4 >= 2
                        && (height - y).is_multiple_of(2)
                        && x + 2 < left + broad;
                    let lit = if is_window { 1 + rng.below(2) as u8 } else { shade };
                    canvas.set(x as f32, y as f32, lit);
                }
            }
            left += broad + rng.below(8) as usize;
        }
    }
    canvas.shades()
}
