//! Items inside the body.

use std::collections::HashSet;

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Ident, Item, ItemImpl, ItemStatic, Macro};

use crate::errors::Errors;
use crate::lower::Graph;

/// The body is compiled once for each way to run it, with the items in it. That is harmless for
/// functions, types and constants. But a `static` would exist several times. An `impl` would
/// conflict with its copy, unless its type or trait is defined in the body, too.
pub(super) fn copied_item(graph: &Graph, errors: &mut Errors) {
    if graph.parsed.args.local || graph.needs_stream() {
        return; // There is one way to run it.
    }
    let body = &graph.parsed.plain.block;
    let mut types = Types::default();
    types.visit_block(body);
    let types = types.0;
    Copied { types, errors }.visit_block(body);
}

/// The types and traits that are defined in the body.
#[derive(Default)]
struct Types(HashSet<Ident>);

impl<'ast> Visit<'ast> for Types {
    fn visit_item(&mut self, item: &'ast Item) {
        self.0.extend(match item {
            Item::Struct(item) => Some(item.ident.clone()),
            Item::Enum(item) => Some(item.ident.clone()),
            Item::Union(item) => Some(item.ident.clone()),
            Item::Trait(item) => Some(item.ident.clone()),
            _ => None,
        });
        visit::visit_item(self, item);
    }
}

struct Copied<'a> {
    types: HashSet<Ident>,
    errors: &'a mut Errors,
}

impl Copied<'_> {
    fn report(&mut self, what: &str, token: impl ToTokens) {
        self.errors.at(
            token,
            format!(
                "{what} in the body would be there once for each way to run the graph\n\
                 help: move it above the function"
            ),
        );
    }
}

impl<'ast> Visit<'ast> for Copied<'_> {
    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        self.report("a `static`", item.static_token);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let mut names = Named::default();
        names.visit_type(&item.self_ty);
        if let Some((_, path, _)) = &item.trait_ {
            names.visit_path(path);
        }
        if names.0.is_disjoint(&self.types) {
            self.report("an `impl`", item.impl_token);
        } else {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let name = mac.path.segments.last().map(|last| &last.ident);
        if name.is_some_and(|name| name == "thread_local" || name == "lazy_static") {
            self.report("a `static`", &mac.path);
        }
    }
}

/// The names in a type or a path.
#[derive(Default)]
struct Named(HashSet<Ident>);

impl<'ast> Visit<'ast> for Named {
    fn visit_ident(&mut self, name: &'ast Ident) {
        self.0.insert(name.clone());
    }
}
