//! No files of a crate import each other in a cycle: one of them can be read first.

use std::collections::{BTreeMap, BTreeSet};

use crate::edges::{Edge, Graph};
use crate::files::Files;
use crate::modules::ModulePath;

/// A cycle that is known.
pub(crate) struct Known {
    /// The folder of the crate.
    pub(crate) krate: &'static str,
    /// Its files, from the crate's `src`.
    pub(crate) files: &'static [&'static str],
    /// Why it is there.
    pub(crate) reason: &'static str,
}

/// The cycles of today. The list must not grow.
pub(crate) const KNOWN: &[Known] = &[Known {
    krate: "ws-executor",
    files: &["task/metadata.rs", "task/runnable.rs", "task/schedule.rs"],
    reason: "One recursion of types: a runnable has metadata, which refers to a scheduler, which queues runnables.",
}];

/// How many edges of a cycle a complaint shows.
const SHOWN: usize = 40;

/// Complains of cycles that are not known as they are, and of known ones that are gone.
pub(crate) fn check(files: &Files, crates: &[&str], known: &[Known]) -> Vec<String> {
    let mut complaints = Vec::new();
    for krate in crates {
        let graph = Graph::of_crate(files, krate);
        let cycles = cycles(&graph);
        let of_crate = known.iter().filter(|known| known.krate == *krate);
        let set = |known: &Known| known.files.iter().map(|&file| file.to_owned()).collect();
        let mut expected: Vec<(BTreeSet<String>, &str)> =
            of_crate.map(|known| (set(known), known.reason)).collect();
        for cycle in cycles {
            let names = names(&graph, &cycle, krate);
            if let Some(at) = expected.iter().position(|(expected, _)| *expected == names) {
                expected.swap_remove(at);
                continue;
            }
            let overlapping = |(expected, _): &(BTreeSet<_>, _)| !names.is_disjoint(expected);
            let what = match expected.iter().position(overlapping) {
                None => format!("{krate}: a cycle that is not known: {names:#?}"),
                Some(at) => {
                    let (before, reason) = expected.swap_remove(at);
                    let more: Vec<_> = names.difference(&before).collect();
                    let less: Vec<_> = before.difference(&names).collect();
                    format!(
                        "{krate}: a known cycle is another one now: {names:#?}\n\
                        more than known: {more:#?}\nless than known: {less:#?}\n\
                        its reason was: {reason}"
                    )
                }
            };
            complaints.push(format!("{what}\nits edges:\n{}", edges_of(&graph, &cycle)));
        }
        for (gone, _) in expected {
            complaints.push(format!(
                "{krate}: a known cycle is gone, take it off the list: {gone:#?}"
            ));
        }
    }
    complaints
}

/// The sets of nodes of which each reaches each other one.
fn cycles(graph: &Graph) -> Vec<BTreeSet<&ModulePath>> {
    let mut next: BTreeMap<&ModulePath, BTreeSet<&ModulePath>> = BTreeMap::new();
    for edge in &graph.edges {
        next.entry(&edge.from).or_default().insert(&edge.to);
    }
    let reached_from = |start| {
        let mut reached = BTreeSet::new();
        let mut left = vec![start];
        while let Some(node) = left.pop() {
            for &to in next.get(node).into_iter().flatten() {
                if reached.insert(to) {
                    left.push(to);
                }
            }
        }
        reached
    };
    let mut reached = BTreeMap::new();
    for node in graph.nodes.keys() {
        reached.insert(node, reached_from(node));
    }
    let mut cycles = BTreeSet::new();
    for (node, reaches) in &reached {
        let is_mutual = |other: &&ModulePath| reached[*other].contains(*node);
        let cycle: BTreeSet<_> = reaches.iter().copied().filter(is_mutual).collect();
        if cycle.len() > 1 {
            cycles.insert(cycle);
        }
    }
    cycles.into_iter().collect()
}

fn names(graph: &Graph, cycle: &BTreeSet<&ModulePath>, krate: &str) -> BTreeSet<String> {
    let folder = format!("{krate}/src/");
    let files = cycle.iter().flat_map(|node| &graph.nodes[*node]);
    files
        .map(|file| file.strip_prefix(&folder).unwrap_or(file).to_owned())
        .collect()
}

/// An example of each edge inside of a cycle.
fn edges_of(graph: &Graph, cycle: &BTreeSet<&ModulePath>) -> String {
    let mut examples: BTreeMap<_, &Edge> = BTreeMap::new();
    for edge in &graph.edges {
        if cycle.contains(&edge.from) && cycle.contains(&edge.to) {
            examples.entry((&edge.from, &edge.to)).or_insert(edge);
        }
    }
    let mut lines: Vec<_> = examples
        .iter()
        .take(SHOWN)
        .map(|((_, to), edge)| {
            let target = graph.nodes[*to].first().expect("a node has a file");
            format!("  {}: {} is in {target}", edge.place, edge.path)
        })
        .collect();
    if examples.len() > SHOWN {
        lines.push(format!("  and {} more", examples.len() - SHOWN));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    const LIB: (&str, &str) = ("c/src/lib.rs", "mod a; mod b; mod d;");
    const A: (&str, &str) = ("c/src/a.rs", "use crate::b::B;\npub struct A;");
    const B: (&str, &str) = ("c/src/b.rs", "use crate::a::A;\npub struct B;");

    fn found(d: &str, known: &[&'static [&'static str]]) -> String {
        let known: Vec<_> = known
            .iter()
            .map(|files| Known {
                krate: "c",
                files,
                reason: "a test",
            })
            .collect();
        let files = planted(&[LIB, A, B, ("c/src/d.rs", d)]);
        check(&files, &["c"], &known).join("\n")
    }

    #[test]
    fn a_cycle_is_found_with_its_edges() {
        let found = found("", &[]);
        assert!(found.contains("not known"), "{found}");
        assert!(
            found.contains("c/src/a.rs:1: crate::b::B is in c/src/b.rs"),
            "{found}"
        );
        assert!(
            found.contains("c/src/b.rs:1: crate::a::A is in c/src/a.rs"),
            "{found}"
        );
    }

    #[test]
    fn a_known_cycle_is_accepted() {
        assert_eq!(found("use crate::a::A;", &[&["a.rs", "b.rs"]]), "");
    }

    #[test]
    fn a_cycle_that_grew_is_found() {
        let d = "fn d() { crate::a::A::new() } pub struct D;";
        assert_eq!(found(d, &[&["a.rs", "b.rs"]]), "");
        let files = planted(&[
            LIB,
            (
                "c/src/a.rs",
                "use crate::b::B; use crate::d::D; pub struct A;",
            ),
            B,
            ("c/src/d.rs", d),
        ]);
        let known = Known {
            krate: "c",
            files: &["a.rs", "b.rs"],
            reason: "a test",
        };
        let found = check(&files, &["c"], &[known]).join("\n");
        assert!(
            found.contains("more than known: [\n    \"d.rs\","),
            "{found}"
        );
    }

    #[test]
    fn a_cycle_that_shrank_or_is_gone_is_found() {
        let shrunk = found("", &[&["a.rs", "b.rs", "d.rs"]]);
        assert!(
            shrunk.contains("less than known: [\n    \"d.rs\","),
            "{shrunk}"
        );
        let gone = found("", &[&["a.rs", "b.rs"], &["d.rs", "lib.rs"]]);
        assert!(gone.contains("gone"), "{gone}");
    }
}
