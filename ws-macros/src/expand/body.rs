//! The nodes on one task: the body of the function, and the body for an item of a pipeline.
//!
//! Both run the same sections, one after the other. [`Mode`] and [`gate`](super::gate) have
//! what an item adds around each node: its gates and its counters.

use proc_macro2::TokenStream;
use syn::visit_mut::VisitMut;
use syn::{Expr, Stmt};

use super::ends::Returns;
use super::flat::flat;
use super::group::group;
use super::lend::{self, lent};
use super::mode::{Mode, references};
use crate::lower::Graph;
use crate::parse::Kind;

/// Steps that are emitted together.
enum Section {
    Straight(usize),
    Group(Vec<usize>),
}

/// Emits the whole body.
pub(super) fn body(graph: &Graph, mode: Mode) -> TokenStream {
    let mut code = TokenStream::new();
    let mut sections = sections(graph, mode).into_iter();
    while let Some(section) = sections.next() {
        code.extend(match section {
            Section::Straight(step) if mode == Mode::Item && graph.flat == Some(step) => {
                let below = sections
                    .by_ref()
                    .map(|section| emit_section(graph, section, mode));
                flat(graph, step, &below.collect())
            }
            other => emit_section(graph, other, mode),
        });
    }
    code
}

fn emit_section(graph: &Graph, section: Section, mode: Mode) -> TokenStream {
    match section {
        Section::Straight(step) => straight(graph, step, mode),
        Section::Group(steps) => group(graph, &steps, mode),
    }
}

/// Cuts the list of steps before each step that waits for all steps since the last cut. Steps
/// between two cuts that can wait for several things at once form a group.
fn sections(graph: &Graph, mode: Mode) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for &step in &graph.order {
        if open.iter().all(|&before| graph.ancestors[step][before]) {
            close(graph, mode, &mut open, &mut sections);
        }
        open.push(step);
    }
    close(graph, mode, &mut open, &mut sections);
    sections
}

fn close(graph: &Graph, mode: Mode, open: &mut Vec<usize>, sections: &mut Vec<Section>) {
    let mut steps = std::mem::take(open);
    // The steps before the first one that awaits need no group.
    let first = steps
        .iter()
        .position(|&step| mode.awaits(graph, step))
        .unwrap_or(steps.len());
    sections.extend(steps.drain(..first).map(Section::Straight));
    if steps.len() > 1 {
        sections.push(Section::Group(steps));
    } else {
        sections.extend(steps.into_iter().map(Section::Straight));
    }
}

fn straight(graph: &Graph, index: usize, mode: Mode) -> TokenStream {
    let lent = lent(graph, index);
    let references = references(graph, index, mode);
    let output = &graph.parsed.output;
    let at = mode.at(index);
    let exit = |result: TokenStream| {
        let exit = mode.exit(graph, index, emit!(__result));
        let end = if graph.parsed.fallible() {
            emit!(__run.end_with(&__result))
        } else {
            emit!(__run.end())
        };
        emit!({ let __result: #output = #result; #end; #exit })
    };
    match (&graph.steps()[index].kind, mode) {
        (Kind::Fence(stmt), Mode::Plain) => {
            let stmt = lend::stmt(graph, stmt, &lent);
            if references.is_empty() {
                emit!(#stmt)
            } else {
                emit!({ #(#references)* #stmt })
            }
        }
        (Kind::Fence(stmt), Mode::Item) => {
            let mut stmt = stmt.clone();
            Returns { exit: &exit }.visit_stmt_mut(&mut stmt);
            let stmt = lend::stmt(graph, &stmt, &lent);
            // Without `;` it would become the value of the block.
            let semi = matches!(stmt, Stmt::Expr(_, None)).then(|| emit!(;));
            emit!({ #at #(#references)* #stmt #semi })
        }
        // A body without a result needs no tail.
        (Kind::Tail(Expr::Tuple(unit)), Mode::Plain) if unit.elems.is_empty() => TokenStream::new(),
        (Kind::Tail(expr), Mode::Plain) => {
            let expr = lend::expr(graph, expr, &lent);
            emit!(#expr)
        }
        (Kind::Tail(expr), Mode::Item) => {
            let mut expr = expr.clone();
            Returns { exit: &exit }.visit_expr_mut(&mut expr);
            let expr = lend::expr(graph, &expr, &lent);
            let end = exit(emit!(#expr));
            emit!({ #at #(#references)* #end })
        }
        (Kind::Node(node), _) => {
            let value = mode.value(graph, index);
            let (attrs, pat) = (&node.attrs, &node.pat);
            let ty = node.ty.as_ref().map(|ty| emit!(: #ty));
            let value = match mode {
                Mode::Plain if references.is_empty() => value,
                Mode::Plain => emit!({ #(#references)* #value }),
                Mode::Item => emit!({ #at #(#references)* let __value #ty = #value; __value }),
            };
            emit!(#(#attrs)* let #pat #ty = #value;)
        }
    }
}
