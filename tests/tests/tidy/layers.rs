//! Files use what is below them, never what is above.

use crate::edges::Graph;
use crate::files::Files;

/// A layer: its name, and what the paths of its files begin with, from the crate's `src`. The
/// longest beginning decides, so that a file may be in another layer than its folder.
pub(crate) type Layer = (&'static str, &'static [&'static str]);

/// The layers of `ws-executor`, from top to bottom.
pub(crate) const LAYERS: &[Layer] = &[
    ("the names of the crate", &["lib.rs"]),
    ("task graphs and pipelines", &["graph/", "pipeline/"]),
    ("what a program calls", &["api/"]),
    ("the scheduler", &["scheduler/"]),
    ("tasks", &["task/"]),
    ("what all layers use", &["base/"]),
];

/// Complains of edges that lead upward, of files without a layer, and of layers without files.
pub(crate) fn check(files: &Files, krate: &str, layers: &[Layer]) -> Vec<String> {
    let folder = format!("{krate}/src/");
    let graph = Graph::of_crate(files, krate);
    let prefixes = || {
        let indexed = layers.iter().enumerate();
        indexed.flat_map(|(layer, (_, prefixes))| prefixes.iter().map(move |it| (*it, layer)))
    };
    // The beginning that decides for a file, and its layer; a low number is at the top.
    let layer_of = |file: &str| {
        let name = file.strip_prefix(&folder).unwrap_or(file);
        prefixes()
            .filter(|(prefix, _)| name.starts_with(prefix))
            .max_by_key(|(prefix, _)| prefix.len())
    };
    let mut complaints = Vec::new();
    let all = || graph.nodes.values().flatten();
    for file in all() {
        if layer_of(file).is_none() {
            complaints.push(format!("{file} is in no layer"));
        }
    }
    for (prefix, layer) in prefixes() {
        if !all().any(|file| layer_of(file).is_some_and(|it| it.0 == prefix)) {
            let name = layers[layer].0;
            complaints.push(format!("`{prefix}` of layer \"{name}\" is no file"));
        }
    }
    for edge in &graph.edges {
        let target = graph.nodes[&edge.to].first().expect("a node has a file");
        let (Some((_, from)), Some((_, to))) = (layer_of(&edge.place.file), layer_of(target))
        else {
            continue;
        };
        if to < from {
            complaints.push(format!(
                "{}: {} leads from \"{}\" up to \"{}\", {target}",
                edge.place, edge.path, layers[from].0, layers[to].0
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    const TABLE: &[Layer] = &[("top", &["a/"]), ("bottom", &["", "a/low.rs"])];

    fn found(low: &str, table: &[Layer]) -> Vec<String> {
        let files = planted(&[
            ("c/src/lib.rs", "mod a; mod b;"),
            ("c/src/a/mod.rs", "mod low; mod high; use crate::b::B;"),
            ("c/src/a/high.rs", "use super::low::Low; pub struct High;"),
            ("c/src/a/low.rs", low),
            ("c/src/b.rs", "use crate::a::low::Low; pub struct B;"),
        ]);
        check(&files, "c", table)
    }

    #[test]
    fn an_edge_upward_is_found() {
        assert_eq!(found("pub struct Low;", TABLE), [""; 0]);
        let complaint = "c/src/a/low.rs:1: super::high::High leads from \"bottom\" up to \
            \"top\", c/src/a/high.rs";
        let low = "use super::high::High; pub struct Low;";
        assert_eq!(found(low, TABLE), [complaint]);
    }

    #[test]
    fn a_file_without_a_layer_and_a_layer_without_files_are_found() {
        let table: &[Layer] = &[("top", &["a/", "d/"]), ("bottom", &["b.rs", "a/low.rs"])];
        let complaints = [
            "c/src/lib.rs is in no layer",
            "`d/` of layer \"top\" is no file",
        ];
        assert_eq!(found("pub struct Low;", table), complaints);
    }
}
