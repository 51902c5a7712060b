//! The modules of a crate: which files they are, what they define, use and mention.
//!
//! The files are found as the compiler finds them, from `lib.rs` along the `mod` lines, for
//! every `cfg` at once. Files that are alternatives of each other are one module: those that
//! `#[path]` or `#[cfg_attr(…, path = …)]` choose between, and the one that is chosen without
//! an attribute. Modules for tests alone are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::slice;

use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Ident, Item, ItemMod, Lit, Meta, Token, UseTree, Visibility};

use crate::files::Files;
use crate::mentions::{Mentions, idents_after};

/// A module's names, from the root of the crate.
pub(crate) type ModulePath = Vec<String>;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) file: String,
    pub(crate) line: usize,
}

impl Place {
    pub(crate) fn of(name: &Ident, file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: name.span().start().line,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One name, or all, that a `use` brings.
pub(crate) struct Import {
    /// The name here, `None` for a glob.
    pub(crate) name: Option<String>,
    pub(crate) path: Vec<String>,
    /// Whether others see it: `pub use`, `pub(crate) use`.
    pub(crate) is_reexport: bool,
    /// Whether it stands in the body of a function.
    pub(crate) is_local: bool,
    pub(crate) place: Place,
}

/// A path that stands somewhere in the code.
pub(crate) struct Mention {
    pub(crate) path: Vec<String>,
    pub(crate) place: Place,
}

/// A module of a crate, in a file or inline.
#[derive(Default)]
pub(crate) struct Module {
    /// The module whose files this one is in: itself, unless it is inline.
    pub(crate) of_file: ModulePath,
    /// Its files, none for an inline module.
    pub(crate) files: BTreeSet<String>,
    /// The names of the items that are defined here.
    pub(crate) items: BTreeSet<String>,
    /// The types among them.
    pub(crate) types: Vec<(String, Place)>,
    pub(crate) imports: Vec<Import>,
    pub(crate) mentions: Vec<Mention>,
}

/// All modules of a crate.
pub(crate) type Modules = BTreeMap<ModulePath, Module>;

/// The modules of the crate in this folder.
pub(crate) fn of_crate(files: &Files, krate: &str) -> Modules {
    let mut reader = Reader {
        files,
        modules: Modules::new(),
    };
    let folder = format!("{krate}/src/");
    reader.file(&[], &format!("{folder}lib.rs"), &folder);
    reader.modules
}

struct Reader<'a> {
    files: &'a Files,
    modules: Modules,
}

/// Where the items come from that are read at the moment.
struct Source<'a> {
    file: &'a str,
    /// The module of the file.
    of_file: &'a [String],
    /// The folder in which a `mod` line without a path looks.
    folder: &'a str,
}

impl Reader<'_> {
    fn file(&mut self, module: &[String], path: &str, folder: &str) {
        let text = &self.files[path];
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let node = self.modules.entry(module.to_vec()).or_default();
        node.of_file = module.to_vec();
        if !node.files.insert(path.to_owned()) {
            return; // An alternative that two others share.
        }
        let source = Source {
            file: path,
            of_file: module,
            folder,
        };
        self.items(module, &source, &file.items);
    }

    fn items(&mut self, module: &[String], source: &Source<'_>, items: &[Item]) {
        let node = self.modules.entry(module.to_vec()).or_default();
        node.of_file = source.of_file.to_vec();
        for item in items {
            if is_for_tests(attributes(item)) {
                continue;
            }
            match item {
                Item::Mod(line) => self.child(module, source, line),
                item => self.item(module, source, item),
            }
        }
    }

    fn child(&mut self, parent: &[String], source: &Source<'_>, line: &ItemMod) {
        let name = line.ident.to_string();
        let mut module = parent.to_vec();
        module.push(name.clone());
        if let Some((_, items)) = &line.content {
            let inner = Source {
                folder: &format!("{}{name}/", source.folder),
                ..*source
            };
            return self.items(&module, &inner, items);
        }
        let beside = &source.file[..=source.file.rfind('/').unwrap()];
        let (chosen, always) = paths(&line.attrs);
        for path in chosen {
            let path = format!("{beside}{path}");
            let folder = &path[..=path.rfind('/').unwrap()];
            self.file(&module, &path, folder);
        }
        if always {
            return;
        }
        let folder = format!("{}{name}/", source.folder);
        let candidates = [
            format!("{}{name}.rs", source.folder),
            format!("{folder}mod.rs"),
        ];
        for path in candidates {
            if self.files.contains_key(&path) {
                self.file(&module, &path, &folder);
            }
        }
        assert!(
            self.modules.contains_key(&module),
            "{}: no file of module {name}",
            source.file
        );
    }

    fn item(&mut self, module: &[String], source: &Source<'_>, item: &Item) {
        let node = self.modules.get_mut(module).expect("it was entered");
        if let Item::Use(line) = item {
            if line.leading_colon.is_none() {
                let is_reexport = !matches!(line.vis, Visibility::Inherited);
                let found = imports(&line.tree, source.file, is_reexport);
                node.imports.extend(found);
            }
            return;
        }
        for (name, is_type) in definitions(item) {
            node.items.insert(name.to_string());
            if is_type {
                let place = Place::of(&name, source.file);
                node.types.push((name.to_string(), place));
            }
        }
        let mut mentions = Mentions::new(source.file);
        syn::visit::Visit::visit_item(&mut mentions, item);
        node.imports.extend(mentions.imports);
        node.mentions.extend(mentions.found);
    }
}

/// The paths that attributes give to a module, and whether one of them always holds.
fn paths(attributes: &[Attribute]) -> (Vec<String>, bool) {
    let path_of = |meta: &Meta| match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let mut found = Vec::new();
    let mut always = false;
    for attribute in attributes {
        if let Some(path) = path_of(&attribute.meta) {
            found.push(path);
            always = true;
        }
        if attribute.path().is_ident("cfg_attr") {
            let parts = Punctuated::<Meta, Token![,]>::parse_terminated;
            let parts = attribute.parse_args_with(parts).unwrap();
            found.extend(parts.iter().skip(1).filter_map(path_of));
        }
    }
    (found, always)
}

/// Whether an item is compiled for tests alone.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    fn needs_test(condition: &Meta) -> bool {
        let parts = |list: &syn::MetaList| {
            let parts = Punctuated::<Meta, Token![,]>::parse_terminated;
            list.parse_args_with(parts).unwrap_or_default()
        };
        match condition {
            Meta::Path(path) => path.is_ident("test"),
            Meta::List(list) if list.path.is_ident("all") => parts(list).iter().any(needs_test),
            Meta::List(list) if list.path.is_ident("any") => parts(list).iter().all(needs_test),
            _ => false,
        }
    }
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args().is_ok_and(|it| needs_test(&it))
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// The names that an item defines, and whether they are those of types.
fn definitions(item: &Item) -> Vec<(Ident, bool)> {
    let (name, is_type) = match item {
        Item::Const(it) => (&it.ident, false),
        Item::Enum(it) => (&it.ident, true),
        Item::Fn(it) => (&it.sig.ident, false),
        Item::Static(it) => (&it.ident, false),
        Item::Struct(it) => (&it.ident, true),
        Item::Trait(it) => (&it.ident, true),
        Item::Type(it) => (&it.ident, true),
        Item::Union(it) => (&it.ident, true),
        Item::Macro(it) => match &it.ident {
            Some(name) => (name, false),
            // Types inside of a macro such as `pin_project!`.
            None => {
                let names = idents_after(&["struct", "enum", "union"], &it.mac.tokens);
                return names.into_iter().map(|name| (name, true)).collect();
            }
        },
        _ => return Vec::new(),
    };
    vec![(name.clone(), is_type)]
}

/// What a `use` brings.
pub(crate) fn imports(tree: &UseTree, file: &str, is_reexport: bool) -> Vec<Import> {
    let mut found = Vec::new();
    let mut left = vec![(tree, Vec::new())];
    while let Some((tree, prefix)) = left.pop() {
        let with = |name: &Ident| [prefix.as_slice(), slice::from_ref(name)].concat();
        let (name, path) = match tree {
            UseTree::Path(it) => {
                left.push((&it.tree, with(&it.ident)));
                continue;
            }
            UseTree::Group(it) => {
                left.extend(it.items.iter().map(|tree| (tree, prefix.clone())));
                continue;
            }
            UseTree::Glob(_) => (None, prefix),
            // `use a::{self}` brings `a`.
            UseTree::Name(it) if it.ident == "self" => (prefix.last().cloned(), prefix),
            UseTree::Name(it) => (Some(it.ident.clone()), with(&it.ident)),
            UseTree::Rename(it) if it.ident == "self" => (Some(it.rename.clone()), prefix),
            UseTree::Rename(it) => (Some(it.rename.clone()), with(&it.ident)),
        };
        let Some(last) = path.last() else { continue };
        found.push(Import {
            name: name.map(|name| name.to_string()),
            is_reexport,
            is_local: false,
            place: Place::of(last, file),
            path: path.iter().map(Ident::to_string).collect(),
        });
    }
    found
}
