//! No two types of a crate have the same name, so that a name says which one is meant.
//!
//! Types are structs, enums, unions, traits and aliases, at the level of modules. The halves of
//! the queues are called alike on purpose. Alternatives of one `cfg` are in the same module,
//! so they are one type here.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::Files;
use crate::modules;

/// Names that several types of a crate have.
pub(crate) struct Known {
    /// The folder of the crate.
    pub(crate) krate: &'static str,
    /// Each with the number of types.
    pub(crate) names: &'static [(&'static str, usize)],
}

/// Names that every queue has.
const ALLOWED: &[&str] = &["Owner", "Stealer"];

/// The names of today. The list must not grow: a new type gets a name of its own.
pub(crate) const KNOWN: &[Known] = &[Known {
    krate: "ws-executor",
    names: &[
        ("BuildError", 2),
        ("Builder", 2),
        ("Content", 2),
        ("Failure", 2),
        ("Kind", 2),
        ("Outcome", 2),
        ("Place", 3),
        ("Progress", 2),
        ("Reason", 2),
        ("Report", 3),
        ("Signal", 2),
        ("Sleep", 2),
        ("Sleeper", 2),
        ("Source", 2),
        ("State", 4),
        ("Threads", 2),
        ("Wait", 2),
        ("Watch", 2),
    ],
}];

/// Complains of names that more types have than is known, and of known ones that fewer have.
pub(crate) fn check(files: &Files, crates: &[&str], known: &[Known]) -> Vec<String> {
    let mut complaints = Vec::new();
    for krate in crates {
        // The modules that define a name, each with one place.
        let mut names: BTreeMap<String, BTreeMap<_, _>> = BTreeMap::new();
        for (path, module) in modules::of_crate(files, krate) {
            for (name, place) in module.types {
                names.entry(name).or_default().insert(path.clone(), place);
            }
        }
        let expected: BTreeMap<_, _> = known
            .iter()
            .filter(|known| known.krate == *krate)
            .flat_map(|known| known.names.iter().copied())
            .collect();
        let all: BTreeSet<_> = names.keys().map(String::as_str).collect();
        for name in all.union(&expected.keys().copied().collect()) {
            let places: Vec<_> = names
                .get(*name)
                .into_iter()
                .flatten()
                .map(|it| it.1)
                .collect();
            let count = places.len();
            let limit = expected.get(name).copied().unwrap_or(1);
            let shown: Vec<_> = places.iter().map(|place| format!("  {place}")).collect();
            let shown = shown.join("\n");
            if count > limit && !ALLOWED.contains(name) {
                complaints.push(format!(
                    "{krate}: {count} types are called {name}:\n{shown}"
                ));
            } else if count < limit {
                complaints.push(format!(
                    "{krate}: only {count} types are called {name}, shorten the list:\n{shown}"
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    fn found(b: &str, names: &'static [(&'static str, usize)]) -> Vec<String> {
        let known = [Known { krate: "c", names }];
        let a = "pub struct A; pub struct Owner; type Both = A;\n\
            pin_project! { pub struct Pinned { a: A } }\n#[cfg(test)] mod tests { struct T; }";
        let files = planted(&[
            (
                "c/src/lib.rs",
                "mod a;\n#[cfg_attr(x, path = \"b_x.rs\")] mod b;",
            ),
            ("c/src/a.rs", a),
            ("c/src/b.rs", b),
            ("c/src/b_x.rs", "struct OfBoth;"),
        ]);
        check(&files, &["c"], &known)
    }

    #[test]
    fn names_of_their_own_are_accepted() {
        let b = "struct Owner; struct OfBoth; fn f() { struct A; } struct T;\n\
            impl Iterator for B { type Both = A; }";
        assert_eq!(found(b, &[]), [""; 0]);
    }

    #[test]
    fn a_name_that_is_given_twice_is_found() {
        for b in ["\nenum A {}", "\ntrait A {}", "\nmod inline { struct A; }"] {
            let complaint = "c: 2 types are called A:\n  c/src/a.rs:1\n  c/src/b.rs:2";
            assert_eq!(found(b, &[]), [complaint]);
            assert_eq!(found(b, &[("A", 2)]), [""; 0]);
        }
        assert_eq!(found("enum Pinned {} union Both {}", &[]).len(), 2);
    }

    #[test]
    fn a_list_that_is_too_long_is_found() {
        let complaint = "c: only 1 types are called A, shorten the list:\n  c/src/a.rs:1";
        assert_eq!(found("", &[("A", 2)]), [complaint]);
        assert_eq!(found("trait A {}", &[("A", 3)]).len(), 1);
        assert_eq!(found("", &[("Gone", 2)]).len(), 1);
    }
}
