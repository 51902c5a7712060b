//! Nothing refers to a document that is not in the repository, by a number or a name that
//! only its authors understand: `F24`, `erratum 9`, `seed_001`.
//!
//! A row of a table is referred to by its number and by the table, "row 9 of the table in
//! `tests/README.md`".

use crate::files::Files;

/// Files, or folders with their `/`, that have relics today. The list must not grow.
pub(crate) const KNOWN: &[&str] = &[];

/// This file names what it looks for.
const ITSELF: &str = "tests/tests/tidy/relics.rs";

/// Complains of relics, and of known ones that are gone.
pub(crate) fn check(files: &Files, known: &[&str]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut met = vec![false; known.len()];
    for (file, text) in files {
        // Names and checksums of other people's packages.
        if file == ITSELF || file.ends_with("Cargo.lock") {
            continue;
        }
        let is_known =
            |known: &&str| file == known || known.ends_with('/') && file.starts_with(known);
        let known = known.iter().position(is_known);
        for (index, line) in text.lines().enumerate() {
            for relic in words(line).filter(|word| is_relic(word)) {
                match known {
                    Some(known) => met[known] = true,
                    None => complaints.push(format!("{file}:{}: `{relic}`", index + 1)),
                }
            }
        }
    }
    for (known, _) in known.iter().zip(met).filter(|(_, is_met)| !is_met) {
        complaints.push(format!("{known} has no relics, take it off the list"));
    }
    complaints
}

/// The words of a line, with the underscores in them.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|it: char| !it.is_alphanumeric() && it != '_')
}

fn is_relic(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|it| it.is_ascii_digit());
    let of_seed = word.strip_prefix("seed_").is_some_and(is_number);
    let of_fault = word
        .strip_prefix('F')
        .is_some_and(|it| is_number(it) && it.len() < 4);
    let lower = word.to_ascii_lowercase();
    of_seed || of_fault || lower == "errata" || lower == "erratum"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    #[test]
    fn relics_are_found() {
        let text = "fine\n| F24 a row |\n(seed_001.last_item)\nErrata 1 and 6";
        let files = planted(&[("a.md", text), ("b/c.rs", "errata: &[9]")]);
        let complaints = [
            "a.md:2: `F24`",
            "a.md:3: `seed_001`",
            "a.md:4: `Errata`",
            "b/c.rs:1: `errata`",
        ];
        assert_eq!(check(&files, &[]), complaints);
        assert_eq!(check(&files, &["b/"]), complaints[..3]);
    }

    #[test]
    fn other_numbers_are_fine() {
        let text = "| 24 a row | f64, F, 0xF24, F1234, seed_of, reseed_001, no_seed_1x, W3 |";
        assert_eq!(check(&planted(&[("a.md", text)]), &[]), [""; 0]);
    }

    #[test]
    fn a_list_that_is_too_long_is_found() {
        let complaints = check(&planted(&[("a.md", "")]), &["a.md", "b/"]);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
    }
}
