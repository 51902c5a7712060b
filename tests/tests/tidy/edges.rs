//! Which file of a crate uses which other one.
//!
//! A node is a module with files of its own; alternatives are one node. There is an edge to
//! the node that defines an item from each node that names the item, in a `use` or in a path.
//! A path is followed module by module, and through re-exports, to the definition. What comes
//! from another crate counts as defined where it is re-exported.
//!
//! No edges are a `mod` line, and a re-export of what the file itself does not use. A `use` of
//! a module alone is none either: the paths that begin with the module's name are. A method
//! call names no path, and the name of a macro by example none that is followed.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::Files;
use crate::modules::{self, Import, ModulePath, Modules, Place};

/// A file that names an item of another one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: ModulePath,
    pub(crate) to: ModulePath,
    pub(crate) place: Place,
    pub(crate) path: String,
}

/// The files of a crate and their edges.
pub(crate) struct Graph {
    /// The files of each node.
    pub(crate) nodes: BTreeMap<ModulePath, BTreeSet<String>>,
    pub(crate) edges: BTreeSet<Edge>,
}

impl Graph {
    pub(crate) fn of_crate(files: &Files, krate: &str) -> Self {
        let names = Names(modules::of_crate(files, krate));
        let mut edges = BTreeSet::new();
        for (path, module) in &names.0 {
            let mut add = |targets: BTreeSet<Target>, place: &Place, named: &[String]| {
                for target in targets {
                    let Target::Item(defines) = target else {
                        continue;
                    };
                    let to = &names.0[&defines].of_file;
                    if *to != module.of_file {
                        edges.insert(Edge {
                            from: module.of_file.clone(),
                            to: to.clone(),
                            place: place.clone(),
                            path: named.join("::"),
                        });
                    }
                }
            };
            for import in module.imports.iter().filter(|import| !import.is_reexport) {
                let mut targets = names.resolve(path, &import.path);
                if import.name.is_none() || import.is_local {
                    // Whatever of it is used, the name of the module does not stand before.
                    targets = targets.into_iter().map(Target::into_item).collect();
                }
                add(targets, &import.place, &import.path);
            }
            for mention in &module.mentions {
                let is_reexport = |import: &Import| {
                    import.is_reexport && import.name.as_ref() == mention.path.first()
                };
                // Of single names only the re-exported ones are not in a `use` counted above.
                if mention.path.len() > 1 || module.imports.iter().any(is_reexport) {
                    let targets = names.resolve(path, &mention.path);
                    add(targets, &mention.place, &mention.path);
                }
            }
        }
        let is_file = |module: &&modules::Module| !module.files.is_empty();
        let node = |module: &modules::Module| (module.of_file.clone(), module.files.clone());
        Self {
            nodes: names.0.values().filter(is_file).map(node).collect(),
            edges,
        }
    }
}

/// What a path means.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(ModulePath),
    /// An item, by the module that defines it.
    Item(ModulePath),
}

impl Target {
    fn into_item(self) -> Self {
        let (Self::Module(module) | Self::Item(module)) = self;
        Self::Item(module)
    }
}

/// Modules and names whose imports are being followed: they may lead in a circle.
type Seen = BTreeSet<(ModulePath, Option<String>)>;

struct Names(Modules);

impl Names {
    /// What a path means that stands in this module; nothing if it is of another crate. A name
    /// may mean several things: a module and a function, or one thing for each `cfg`.
    fn resolve(&self, module: &ModulePath, path: &[String]) -> BTreeSet<Target> {
        self.resolve_once(module, path, &mut Seen::new())
    }

    fn resolve_once(
        &self,
        module: &ModulePath,
        path: &[String],
        seen: &mut Seen,
    ) -> BTreeSet<Target> {
        let mut base = module.clone();
        let mut rest = path;
        match path[0].as_str() {
            "crate" => {
                base.clear();
                rest = &rest[1..];
            }
            "self" | "super" => {
                while let Some(step @ ("self" | "super")) = rest.first().map(String::as_str) {
                    if step == "super" {
                        base.pop();
                    }
                    rest = &rest[1..];
                }
            }
            name if !self.has(module, name, &mut Seen::new()) => return BTreeSet::new(),
            _ => {}
        }
        self.walk(&base, rest, seen)
    }

    fn child(&self, module: &ModulePath, name: &str) -> Option<ModulePath> {
        let mut child = module.clone();
        child.push(name.to_owned());
        self.0.contains_key(&child).then_some(child)
    }

    /// Whether a module has this name, by its own definitions or by its imports.
    fn has(&self, module: &ModulePath, name: &str, seen: &mut Seen) -> bool {
        let node = &self.0[module];
        let names = |import: &Import| !import.is_local && import.name.as_deref() == Some(name);
        self.child(module, name).is_some()
            || node.items.contains(name)
            || node.imports.iter().any(names)
            || self
                .globs(module, seen)
                .iter()
                .any(|from| self.has(from, name, seen))
    }

    /// The modules of this crate of which a module imports everything.
    fn globs(&self, module: &ModulePath, seen: &mut Seen) -> Vec<ModulePath> {
        if !seen.insert((module.clone(), None)) {
            return Vec::new();
        }
        let imports = self.0[module].imports.iter();
        let globs = imports.filter(|import| import.name.is_none() && !import.is_local);
        let targets: BTreeSet<_> = globs
            .flat_map(|import| self.resolve_once(module, &import.path, seen))
            .collect();
        let module_of = |target| match target {
            Target::Module(module) => Some(module),
            Target::Item(_) => None,
        };
        targets.into_iter().filter_map(module_of).collect()
    }

    /// What `path` means from the outside of a module.
    fn walk(&self, module: &ModulePath, path: &[String], seen: &mut Seen) -> BTreeSet<Target> {
        let Some((name, rest)) = path.split_first() else {
            return BTreeSet::from([Target::Module(module.clone())]);
        };
        let mut found = BTreeSet::new();
        if let Some(child) = self.child(module, name) {
            if !rest.is_empty() {
                return self.walk(&child, rest, seen);
            }
            found.insert(Target::Module(child));
        }
        let node = &self.0[module];
        if node.items.contains(name) {
            found.insert(Target::Item(module.clone()));
            return found;
        }
        if seen.insert((module.clone(), Some(name.clone()))) {
            let names = |import: &&Import| !import.is_local && import.name.as_ref() == Some(name);
            for import in node.imports.iter().filter(names) {
                let targets = self.resolve_once(module, &import.path, seen);
                if targets.is_empty() {
                    found.insert(Target::Item(module.clone()));
                }
                for target in targets {
                    match target {
                        Target::Module(module) => found.extend(self.walk(&module, rest, seen)),
                        item @ Target::Item(_) => _ = found.insert(item),
                    }
                }
            }
        }
        if found.is_empty() {
            let globs = self.globs(module, &mut Seen::new());
            let mut having = globs.iter();
            if let Some(from) = having.find(|from| self.has(from, name, &mut Seen::new())) {
                return self.walk(from, path, seen);
            }
            // By a glob of another crate, or by a macro.
            found.insert(Target::Item(module.clone()));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::planted;

    /// The edges as `from > to` with their files, without `c/src/` and `.rs`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let graph = Graph::of_crate(&planted(files), "c");
        let short = |module: &ModulePath| {
            let files = graph.nodes[module].iter();
            let names = files.map(|file| file["c/src/".len()..].trim_end_matches(".rs"));
            names.collect::<Vec<_>>().join("|")
        };
        let shown = |edge: &Edge| format!("{} > {}", short(&edge.from), short(&edge.to));
        let all: BTreeSet<_> = graph.edges.iter().map(shown).collect();
        all.into_iter().collect()
    }

    #[test]
    fn uses_and_paths_are_edges() {
        let files = [
            ("c/src/lib.rs", "mod a; mod b; mod d; mod e;"),
            ("c/src/a.rs", "use crate::b::{B, d::D}; use super::e;"),
            ("c/src/b.rs", "pub struct B;"),
            ("c/src/d.rs", "fn d() { let x = super::e::new(); }"),
            ("c/src/e.rs", "fn e() { assert_eq!(crate::d::d(), []); }"),
        ];
        assert_eq!(edges(&files), ["a > b", "d > e", "e > d"]);
    }

    #[test]
    fn paths_in_macros_are_edges() {
        let files = [
            ("c/src/lib.rs", "mod a; mod b; mod d; mod e;"),
            ("c/src/a.rs", "macro_rules! m { () => { $crate::b::B } }"),
            (
                "c/src/b.rs",
                "fn b() { assert!((0..crate::d::D).contains(&a.crate::e)) }",
            ),
            (
                "c/src/d.rs",
                "fn d() { quote!(crate::e::E); assert!(::crate::e::E) }",
            ),
            ("c/src/e.rs", ""),
        ];
        assert_eq!(edges(&files), ["a > b", "b > d"]);
    }

    #[test]
    fn a_module_that_is_imported_counts_where_it_is_used() {
        let files = [
            ("c/src/lib.rs", "mod a; mod b; mod d;"),
            ("c/src/a.rs", "use crate::b; fn a(b: b::B) { b::f() }"),
            ("c/src/b.rs", "pub use crate::d::B; pub fn f() {}"),
            ("c/src/d.rs", "pub struct B;"),
        ];
        assert_eq!(edges(&files), ["a > b", "a > d"]);
    }

    #[test]
    fn reexports_are_followed_and_are_no_edges() {
        let files = [
            ("c/src/lib.rs", "mod a; mod b; mod d; pub use a::A;"),
            (
                "c/src/a/mod.rs",
                "mod inner; pub use inner::*; pub const N: u8 = 1;",
            ),
            ("c/src/a/inner.rs", "pub struct A; const M: u8 = super::N;"),
            ("c/src/b.rs", "use crate::A; use crate::d::Same;"),
            (
                "c/src/d.rs",
                "pub(crate) use crate::a::A as Same; pub use a::loops::loops;",
            ),
        ];
        assert_eq!(edges(&files), ["a/inner > a/mod", "b > a/inner"]);
    }

    #[test]
    fn a_reexport_that_is_used_is_an_edge() {
        let files = [
            ("c/src/lib.rs", "mod a;"),
            (
                "c/src/a.rs",
                "mod b; pub use b::B; fn new() -> B { todo!() }",
            ),
            ("c/src/a/b.rs", "pub struct B;"),
        ];
        assert_eq!(edges(&files), ["a > a/b"]);
    }

    #[test]
    fn alternatives_are_one_node_and_tests_are_none() {
        let files = [
            (
                "c/src/lib.rs",
                r#"
                #[cfg_attr(loom, path = "a_model.rs")] mod a;
                #[cfg(x)] #[path = "b_x.rs"] mod b;
                #[cfg(not(x))] #[path = "b_y.rs"] mod b;
                #[cfg(all(test, y))] mod missing;
                "#,
            ),
            ("c/src/a.rs", "use crate::b::B;"),
            (
                "c/src/a_model.rs",
                "#[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("c/src/b_x.rs", "pub struct B;"),
            (
                "c/src/b_y.rs",
                "pub struct B; #[test] fn t() { crate::a::t() }",
            ),
        ];
        assert_eq!(edges(&files), ["a|a_model > b_x|b_y"]);
    }

    #[test]
    fn inline_modules_belong_to_their_file() {
        let files = [
            ("c/src/lib.rs", "mod a; mod b;"),
            (
                "c/src/a.rs",
                "pub mod rt { pub use super::A; pub use crate::b::B; } struct A;",
            ),
            ("c/src/b.rs", "use crate::a::rt::{A, B}; pub struct B;"),
        ];
        assert_eq!(edges(&files), ["b > a"]);
    }
}
