//! Shared values: a step sees the values that it does not own behind references.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Stmt};

use super::emit::rt;
use super::ends::{Ends, Questions};
use crate::lower::Graph;
use crate::names::{Position, Uses, walk_expr, walk_stmt};

/// The values that a step sees behind a reference: those that it does not move, and all values
/// if it may be retried. `#[shared]` inputs are references already.
pub(super) fn lent(graph: &Graph, step: usize) -> HashSet<Ident> {
    let again = graph.steps()[step].options.retry.is_some();
    graph
        .inputs_of(step)
        .into_iter()
        .filter(|&value| !graph.is_shared_input(value))
        .filter(|&value| again || graph.values[value].mover != Some(step))
        .map(|value| graph.values[value].name.clone())
        .collect()
}

/// Replaces the uses of shared values by dereferences: `order` is bound to a reference, and
/// `order` in the expression means the value, so it becomes `*order`.
///
/// In macros the name stays `order`. So `order` must be bound to a replacement of the value: a
/// copy if the value is `Copy`, or else a reference. The rest of the expression then uses
/// another variable named `order`, which differs only in its span.
struct Lend<'a> {
    lent: &'a HashSet<Ident>,
    in_macros: Vec<Ident>,
}

impl<'a> Lend<'a> {
    /// `look` walks over the code.
    fn new(lent: &'a HashSet<Ident>, look: impl FnOnce(&mut dyn Uses)) -> Self {
        let mut in_macros = Vec::new();
        look(&mut |name: &Ident, position: Position| {
            let lent = position == Position::Opaque && lent.contains(name);
            if lent && !in_macros.contains(name) {
                in_macros.push(name.clone());
            }
            None
        });
        Self { lent, in_macros }
    }

    /// The name of the reference outside macros.
    fn reference(&self, name: &Ident) -> Ident {
        let mut reference = name.clone();
        if self.in_macros.contains(name) {
            reference.set_span(name.span().resolved_at(Span::mixed_site()));
        }
        reference
    }

    /// The bindings before the code.
    fn bindings(&self, graph: &Graph) -> Vec<TokenStream> {
        let rt = rt(&graph.parsed);
        let names = self.in_macros.iter();
        names
            .map(|name| {
                let reference = self.reference(name);
                emit! {
                    let #reference = #name;
                    #[allow(unused_variables)]
                    let #name = #rt::Seen::new(#reference).seen();
                }
            })
            .collect()
    }
}

impl Uses for Lend<'_> {
    fn found(&mut self, name: &Ident, _: Position) -> Option<Expr> {
        let reference = self.reference(name);
        let tokens = quote_spanned!(name.span()=> *#reference);
        let lent = self.lent.contains(name);
        lent.then(|| syn::parse2(tokens).expect("an expression"))
    }
}

/// An expression as it is compiled: names in `lent` are references, and errors of `?` are
/// explained by the macro's own traits.
pub(super) fn expr(graph: &Graph, expr: &Expr, lent: &HashSet<Ident>) -> Expr {
    expr_that(graph, expr, lent, Ends::Run)
}

pub(super) fn expr_that(graph: &Graph, expr: &Expr, lent: &HashSet<Ident>, ends: Ends) -> Expr {
    let mut code = expr.clone();
    let mut lend = Lend::new(lent, |uses| walk_expr(&mut expr.clone(), uses));
    if !lent.is_empty() {
        walk_expr(&mut code, &mut lend);
    }
    Questions { graph, ends }.visit_expr_mut(&mut code);
    let bindings = lend.bindings(graph);
    if bindings.is_empty() {
        return code;
    }
    syn::parse2(quote_spanned!(expr.span()=> { #(#bindings)* #code })).expect("a block")
}

/// As [`expr`](fn@expr), for a statement.
pub(super) fn stmt(graph: &Graph, stmt: &Stmt, lent: &HashSet<Ident>) -> Stmt {
    let mut code = stmt.clone();
    let mut lend = Lend::new(lent, |uses| walk_stmt(&mut stmt.clone(), uses));
    if !lent.is_empty() {
        walk_stmt(&mut code, &mut lend);
    }
    let ends = Ends::Run;
    Questions { graph, ends }.visit_stmt_mut(&mut code);
    let bindings = lend.bindings(graph);
    if bindings.is_empty() {
        return code;
    }
    let block = syn::parse2(quote_spanned!(stmt.span()=> { #(#bindings)* #code }));
    Stmt::Expr(block.expect("a block"), None)
}
