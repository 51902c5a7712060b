//! The code map of `ARCHITECTURE.md` names files that exist, and every source file.
//!
//! In a row, the first name is a path from the crate's `src`, or from the root of the
//! repository in the last table. The others are in the folder of the first, or paths as well.
//! A `*` stands for any part of a name, and a folder with its `/` for all that is in it.
//! `lib.rs` needs no row: the heading of its table is one.

use crate::files::{Files, sources};

const DOCUMENT: &str = "ARCHITECTURE.md";

/// Complains of paths without a file, and of source files without a path.
pub(crate) fn check(files: &Files, crates: &[&str]) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut patterns = Vec::new();
    for row in rows(&files[DOCUMENT]) {
        let mut folder = None;
        for name in row.names {
            let (base, beside) = (&row.base, folder.unwrap_or(""));
            let candidates = [format!("{base}{beside}{name}"), format!("{base}{name}")];
            let exists = |pattern: &&String| files.keys().any(|file| matches(file, pattern));
            match candidates.iter().find(exists) {
                Some(pattern) => patterns.push(pattern.clone()),
                None => {
                    complaints.push(format!("{DOCUMENT}: `{name}` is no file, in\n{}", row.text))
                }
            }
            if folder.is_none() {
                let end = name.trim_end_matches('/').rfind('/');
                folder = Some(end.map_or("", |end| &name[..=end]));
            }
        }
    }
    if patterns.is_empty() {
        complaints.push(format!("{DOCUMENT} has no code map"));
    }
    for (file, _) in crates.iter().flat_map(|krate| sources(files, krate)) {
        let is_root = file.ends_with("/src/lib.rs");
        if !is_root && !patterns.iter().any(|pattern| matches(file, pattern)) {
            complaints.push(format!("{DOCUMENT}: the code map has no row for {file}"));
        }
    }
    complaints
}

struct Row<'a> {
    /// The folder that its paths begin in.
    base: String,
    names: Vec<&'a str>,
    text: &'a str,
}

/// The rows of the code map's tables.
fn rows(document: &str) -> Vec<Row<'_>> {
    let map = document.split_once("\n## Code map\n").map_or("", |it| it.1);
    let map = map.split_once("\n## ").map_or(map, |it| it.0);
    let mut base = String::new();
    let mut rows = Vec::new();
    for text in map.lines() {
        if let Some(heading) = text.strip_prefix("### ") {
            // The heading of a crate is its folder in backticks.
            let krate = heading.split('`').nth(1);
            base = krate.map_or(String::new(), |krate| format!("{krate}/src/"));
        } else if text.starts_with("| `") {
            let cell = text.split(" | ").next().unwrap_or(text);
            rows.push(Row {
                base: base.clone(),
                names: cell.split('`').skip(1).step_by(2).collect(),
                text,
            });
        }
    }
    rows
}

/// Whether a path is what a pattern stands for.
fn matches(file: &str, pattern: &str) -> bool {
    if pattern.ends_with('/') {
        return file.starts_with(pattern);
    }
    let Some((start, end)) = pattern.split_once('*') else {
        return file == pattern;
    };
    file.strip_prefix(start)
        .and_then(|rest| rest.strip_suffix(end))
        .is_some_and(|middle| !middle.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    fn found(table: &str) -> Vec<String> {
        let map = format!("# A\n\n## Code map\n\n### `c`\n\n| path | is |\n|---|---|\n{table}\n");
        let files = planted(&[
            (DOCUMENT, &map),
            ("c/src/lib.rs", ""),
            ("c/src/a/mod.rs", ""),
            ("c/src/a/one.rs", ""),
            ("c/src/a/two.rs", ""),
            ("c/src/a/two/deep.rs", ""),
            ("c/src/b.rs", ""),
            ("c/src/b_model.rs", ""),
            ("tests/x/y.rs", ""),
        ]);
        check(&files, &["c"])
    }

    #[test]
    fn the_short_forms_are_understood() {
        let table = "| `a/mod.rs`, `one.rs`, `two.rs`, `two/` | a |\n| `b*.rs` | `nothing.rs` |\n\
            \n### Around it\n\n| `tests/*/y.rs`, `tests/x/` | |\n\n## More\n\n| `c` | |";
        assert_eq!(found(table), [""; 0]);
    }

    #[test]
    fn a_path_without_a_file_is_found() {
        let complaints = found("| `a/`, `c.rs` | |\n| `b*.rs` | |");
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(
            complaints[0].contains("`c.rs` is no file"),
            "{complaints:?}"
        );
    }

    #[test]
    fn a_file_without_a_path_is_found() {
        let complaints = found("| `a/mod.rs`, `*.rs` | |\n| `b.rs` | |");
        let missing = ["a/two/deep.rs", "b_model.rs"];
        let expected =
            missing.map(|file| format!("{DOCUMENT}: the code map has no row for c/src/{file}"));
        assert_eq!(complaints, expected);
    }

    #[test]
    fn a_document_without_a_map_is_found() {
        let complaints = check(&planted(&[(DOCUMENT, "# A")]), &["c"]);
        assert_eq!(complaints, [format!("{DOCUMENT} has no code map")]);
    }
}
