//! A row of numbers as a picture of characters, with a label below each: what LATENCY GRAPH draws.

/// How many samples stand in one picture.
const COLUMNS: usize = 80;
/// How high it is.
const ROWS: usize = 4;
/// What fills a place to a third, two thirds and all.
const FILLS: [u8; 3] = *b"_o#";

/// Draws samples with their labels, which stand upright below them.
pub fn draw(samples: &[(u64, String)]) -> String {
    let least = samples.iter().map(|(value, _)| *value).min().unwrap_or(0);
    let most = samples.iter().map(|(value, _)| *value).max().unwrap_or(0);
    let pictures = samples.chunks(COLUMNS).map(|part| picture(part, least, most));
    pictures.collect::<Vec<_>>().join("\n")
}

fn picture(samples: &[(u64, String)], least: u64, most: u64) -> String {
    let steps = FILLS.len() * ROWS;
    let range = if most == least { 1.0 } else { (most - least) as f64 };
    let step = |value: u64| (((value - least) as f64 * steps as f64 / range) as usize).min(steps - 1);
    let bar = |row: usize, value: u64| {
        let base = (ROWS - row - 1) * FILLS.len();
        match step(value).checked_sub(base) {
            Some(above) => FILLS.get(above).copied().unwrap_or(b'|'),
            None => b' ',
        }
    };
    let mut lines: Vec<Vec<u8>> =
        (0..ROWS).map(|row| samples.iter().map(|(value, _)| bar(row, *value)).collect()).collect();
    lines.push(vec![b' '; samples.len()]);
    let longest = samples.iter().map(|(_, label)| label.len()).max().unwrap_or(0);
    let letter = |at: usize, label: &str| label.as_bytes().get(at).copied().unwrap_or(b' ');
    lines.extend((0..longest).map(|at| samples.iter().map(|(_, label)| letter(at, label)).collect()));
    let lines = lines.iter().map(|line| String::from_utf8_lossy(line));
    lines.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_numbers_stand_higher() {
        let samples = [(10, "3s"), (20, "2s"), (40, "1s")].map(|(value, label)| (value, label.to_owned()));
        assert_eq!(draw(&samples), "  #\n  |\n o|\n_||\n   \n321\nsss\n");
        assert_eq!(draw(&[(7, "10m".to_owned())]), " \n \n \n_\n \n1\n0\nm\n");
    }
}
