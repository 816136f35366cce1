//! The nearest name to a word that names nothing.

/// The one of the names that a slip of a letter or two turns into the word; None when none is near.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(40).collect();
    let allowed = if word.len() <= 4 { 1 } else { 2 };
    names
        .into_iter()
        .map(|name| (distance(&word, &name.to_lowercase().chars().collect::<Vec<_>>()), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// How many letters have to be added, left out, replaced or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = rows[i][j] + usize::from(letter != other);
            let mut least = replaced.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *other && b[j - 1] == *letter {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let names = ["get", "set", "decrby", "hgetall", "expire"];
        let near = |word| nearest(word, names);
        assert_eq!(
            [near("GTE"), near("hgetal"), near("EXPRIE"), near("decbry")].map(Option::unwrap),
            ["get", "hgetall", "expire", "decrby"]
        );
        assert_eq!([near("publish"), near(""), near("x"), near("ü")], [None; 4]);
    }
}
