//! No two types of a crate have the same name, so that a name says which one is meant.
//!
//! Types are structs, enums, unions, traits and aliases, at the level of modules. The halves of
//! the queues are called alike on purpose. Alternatives of one `cfg` are in the same module,
//! so they are one type here. Public types in public modules of their own may share a name:
//! the module says which one is meant.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::Files;
use crate::modules;

/// Names that several public types of a crate have.
pub(crate) struct Public {
    /// The folder of the crate.
    pub(crate) krate: &'static str,
    /// Each with the files that define one such type, from the crate's `src`.
    pub(crate) names: &'static [(&'static str, &'static [&'static str])],
}

/// Names that every queue has, in the crate of the queues.
const HALVES: (&str, &[&str]) = ("ws-core", &["Owner", "Stealer"]);

/// Names that stay: the types are public, in modules of their own, so that users write
/// `pipeline::Builder`. A type that is not public must not have such a name.
pub(crate) const PUBLIC: &[Public] = &[Public {
    krate: "ws-executor",
    names: &[
        ("BuildError", &["api/builder.rs", "pipeline/failure.rs"]),
        ("Builder", &["api/builder.rs", "pipeline/builder.rs"]),
        ("Report", &["graph/testing.rs", "pipeline/report.rs"]),
        ("Source", &["api/par/source.rs", "pipeline/source.rs"]),
    ],
}];

/// Complains of names that several types have, and of public ones that are not as they are listed.
pub(crate) fn check(files: &Files, crates: &[&str], public: &[Public]) -> Vec<String> {
    let mut complaints = Vec::new();
    for krate in crates {
        // The modules that define a name, each with one place.
        let mut names: BTreeMap<String, BTreeMap<_, _>> = BTreeMap::new();
        for (path, module) in modules::of_crate(files, krate) {
            for (name, place) in module.types {
                names.entry(name).or_default().insert(path.clone(), place);
            }
        }
        let public: BTreeMap<_, _> = public
            .iter()
            .filter(|public| public.krate == *krate)
            .flat_map(|public| public.names.iter().copied())
            .collect();
        let mut all: BTreeSet<_> = names.keys().map(String::as_str).collect();
        all.extend(public.keys());
        for name in all {
            let places: Vec<_> = names
                .get(name)
                .into_iter()
                .flatten()
                .map(|it| it.1)
                .collect();
            let shown: Vec<_> = places.iter().map(|place| format!("  {place}")).collect();
            let shown = shown.join("\n");
            let listed = public.get(name).copied().unwrap_or_default();
            let is_listed = |file: &str| {
                let from_src = file.strip_prefix(&format!("{krate}/src/"));
                from_src.is_some_and(|file| listed.contains(&file))
            };
            let found = places.iter().filter(|it| is_listed(&it.file)).count();
            if found != listed.len() {
                complaints.push(format!(
                    "{krate}: {found} types are called {name} in {listed:?}:\n{shown}"
                ));
            }
            let count = places.len() - found;
            let limit = usize::from(listed.is_empty());
            let is_half = *krate == HALVES.0 && HALVES.1.contains(&name);
            if count > limit && !is_half {
                let count = places.len();
                complaints.push(format!(
                    "{krate}: {count} types are called {name}:\n{shown}"
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

    fn found(b: &str) -> Vec<String> {
        found_beside_public(b, &[])
    }

    fn found_beside_public(
        b: &str,
        public: &'static [(&'static str, &'static [&'static str])],
    ) -> Vec<String> {
        let public = [Public {
            krate: "c",
            names: public,
        }];
        let a = "pub struct A; type Both = A;\n\
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
        check(&files, &["c"], &public)
    }

    #[test]
    fn names_of_their_own_are_accepted() {
        let b = "struct OfBoth; fn f() { struct A; } struct T;\n\
            impl Iterator for B { type Both = A; }";
        assert_eq!(found(b), [""; 0]);
    }

    #[test]
    fn a_name_that_is_given_twice_is_found() {
        for b in ["\nenum A {}", "\ntrait A {}", "\nmod inline { struct A; }"] {
            let complaint = "c: 2 types are called A:\n  c/src/a.rs:1\n  c/src/b.rs:2";
            assert_eq!(found(b), [complaint]);
        }
        assert_eq!(found("enum Pinned {} union Both {}").len(), 2);
    }

    #[test]
    fn halves_of_queues_share_their_names() {
        let found = |krate: &str| {
            let file = |name| format!("{krate}/src/{name}.rs");
            let files = [
                (file("lib"), "mod a; mod b;"),
                (file("a"), "pub struct Owner;"),
                (file("b"), "pub struct Owner;"),
            ];
            let files: Vec<_> = files.iter().map(|(path, text)| (&**path, *text)).collect();
            check(&planted(&files), &[krate], &[]).len()
        };
        assert_eq!(found("ws-core"), 0);
        assert_eq!(found("ws-executor"), 1);
    }

    #[test]
    fn public_types_may_share_a_name() {
        let public: &[(_, &[_])] = &[("A", &["a.rs", "b.rs"])];
        assert_eq!(found_beside_public("pub trait A {}", public), [""; 0]);
    }

    #[test]
    fn a_type_with_the_name_of_public_ones_is_found() {
        let public: &[(_, &[_])] = &[("A", &["a.rs", "b.rs"])];
        let b = "pub trait A {}\npub mod inline { struct A; }";
        assert_eq!(found_beside_public(b, public).len(), 1);
        let only_one: &[(_, &[_])] = &[("A", &["a.rs"])];
        let complaint = "c: 2 types are called A:\n  c/src/a.rs:1\n  c/src/b.rs:1";
        assert_eq!(found_beside_public("struct A;", only_one), [complaint]);
    }

    #[test]
    fn a_public_type_that_is_gone_is_found() {
        let public: &[(_, &[_])] = &[("A", &["a.rs", "b.rs"])];
        let complaint = "c: 1 types are called A in [\"a.rs\", \"b.rs\"]:\n  c/src/a.rs:1";
        assert_eq!(found_beside_public("", public), [complaint]);
        let gone: &[(_, &[_])] = &[("Gone", &["a.rs", "b.rs"])];
        assert_eq!(found_beside_public("", gone).len(), 1);
    }
}
