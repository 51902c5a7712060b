//! Every `ORDERING(edge)` is explained by a row of a `# Memory ordering` table, and every row
//! has such a tag.
//!
//! A tag's row is in its file, in the file of a module around it, or in that of the module
//! that the edge is named after: `sleep.fence` is explained in `sleep`. A row's tag is in any of
//! the crates, because a table may name an edge of a crate below. A row whose first cell has
//! nothing in backticks names no edge of ours.

use std::collections::BTreeSet;

use crate::files::{Files, sources};

/// Something about an edge in a file.
struct Named<'a> {
    edge: &'a str,
    file: &'a str,
    line: usize,
}

/// Complains of tags without a row and of rows without a tag.
pub(crate) fn check(files: &Files, crates: &[&str]) -> Vec<String> {
    let mut complaints = Vec::new();
    let of_all = crates.iter().flat_map(|krate| sources(files, krate));
    let tagged: BTreeSet<_> = of_all.flat_map(tags).map(|tag| tag.edge).collect();
    for krate in crates {
        let rows: Vec<_> = sources(files, krate).flat_map(rows).collect();
        for row in rows.iter().filter(|row| !tagged.contains(row.edge)) {
            let Named { edge, file, line } = row;
            complaints.push(format!(
                "{file}:{line}: no operation has the tag of `{edge}`"
            ));
        }
        for Named { edge, file, line } in sources(files, krate).flat_map(tags) {
            let explains = |row: &Named<'_>| {
                row.edge == edge && (is_around(row.file, file) || is_named_after(edge, row.file))
            };
            if !rows.iter().any(explains) {
                complaints.push(format!("{file}:{line}: no table has a row of `{edge}`"));
            }
        }
    }
    complaints
}

/// The tags in the comments of a file.
fn tags<'a>((file, text): (&'a str, &'a str)) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let comment = line.split_once("//").map_or("", |it| it.1);
        for tag in comment.split("ORDERING(").skip(1) {
            let edges = tag.split_once(')').map_or(tag, |it| it.0);
            found.extend(edges.split(',').map(|edge| Named {
                edge: edge.trim(),
                file,
                line: index + 1,
            }));
        }
    }
    found
}

/// The edges that the tables of a file name.
fn rows<'a>((file, text): (&'a str, &'a str)) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (index, line) in text.lines().enumerate() {
        let Some(text) = line.strip_prefix("//!") else {
            break;
        };
        let text = text.trim();
        if text.starts_with('#') {
            is_inside = text == "# Memory ordering";
        }
        if is_inside && text.starts_with("| ") {
            let cell = text.split('|').nth(1).unwrap_or("");
            found.extend(cell.split('`').skip(1).step_by(2).map(|edge| Named {
                edge,
                file,
                line: index + 1,
            }));
        }
    }
    found
}

/// Whether one file is that of a module around the other, or the same.
fn is_around(outer: &str, inner: &str) -> bool {
    let folder = match outer.strip_suffix("/mod.rs") {
        Some(folder) => folder,
        None => outer.trim_end_matches("/lib.rs").trim_end_matches(".rs"),
    };
    let below = inner.strip_prefix(folder);
    outer == inner || below.is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a file is that of the module that an edge is named after.
fn is_named_after(edge: &str, file: &str) -> bool {
    let module = edge.split('.').next().unwrap_or(edge);
    file.ends_with(&format!("/{module}.rs")) || file.ends_with(&format!("/{module}/mod.rs"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    const TABLE: &str = "//! A.\n//!\n//! # Memory ordering\n//!\n//! | edge | a |\n//! |---|---|\n\
        //! | `a.x` | of `b.y` |\n//! | (the lock) | |\n\n";

    fn found(inside: &str, elsewhere: &str) -> Vec<String> {
        let files = planted(&[
            ("c/src/lib.rs", "//! | `no.table` | |"),
            ("c/src/a/mod.rs", TABLE),
            ("c/src/a/inside.rs", inside),
            ("c/src/b.rs", elsewhere),
        ]);
        check(&files, &["c"])
    }

    #[test]
    fn tags_with_rows_are_accepted() {
        let elsewhere = "//! # Memory ordering\n//! | `b.y`, `b.z` | |\n// ORDERING(b.y, b.z)";
        let tag = "// ORDERING(a.x): release.";
        assert_eq!(found(tag, elsewhere), [""; 0]);
        assert_eq!(found("", &format!("{elsewhere}\n{tag}")), [""; 0]);
    }

    #[test]
    fn a_tag_without_a_row_is_found() {
        let complaints = found("// ORDERING(a.x)\n    // ORDERING(a.z): no.", "");
        assert_eq!(
            complaints,
            ["c/src/a/inside.rs:2: no table has a row of `a.z`"]
        );
        let other_table = "//! # Memory ordering\n//! | `b.y` | |\n// ORDERING(b.y)";
        let complaints = found(
            "// ORDERING(a.x)",
            &format!("{other_table}\n// ORDERING(d.x)"),
        );
        assert_eq!(complaints, ["c/src/b.rs:4: no table has a row of `d.x`"]);
    }

    #[test]
    fn a_row_in_a_table_of_a_stranger_does_not_count() {
        let elsewhere = "//! # Memory ordering\n//! | `d.y` | |";
        let complaints = found("// ORDERING(a.x)\n// ORDERING(d.y)", elsewhere);
        assert_eq!(
            complaints,
            ["c/src/a/inside.rs:2: no table has a row of `d.y`"]
        );
    }

    #[test]
    fn a_row_without_a_tag_is_found() {
        let complaints = found("let text = \"a.x\";", "");
        assert_eq!(
            complaints,
            ["c/src/a/mod.rs:7: no operation has the tag of `a.x`"]
        );
    }
}
