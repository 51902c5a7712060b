//! The most similar of some names, for "did you mean".

/// The known name of which `word` is most likely a misspelling, if one is near enough.
///
/// The distance is the optimal string alignment distance (insert, delete, replace, swap two
/// neighbours). Near is at most a third of the word's length. A single letter is not near to
/// any name.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match word.chars().count() {
        0 | 1 => 0,
        length => (length / 3).max(1),
    };
    known
        .into_iter()
        .map(|name| (distance(word, name), name))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let known = ["layout", "render", "id"];
        assert_eq!(nearest("layuot", known), Some("layout"));
        assert_eq!(nearest("rendr", known), Some("render"));
        assert_eq!(nearest("di", known), Some("id"));
        assert_eq!(nearest("price", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("v", ["n"]), None);
    }
}
